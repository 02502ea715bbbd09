"""LangChain for Python: plain, streamed, structured, and the block of docs/clients.md."""

import contextlib
import io
import os
import pathlib
import re

import openai
from langchain_openai import ChatOpenAI
from pydantic import BaseModel


class City(BaseModel):
    city: str


model = ChatOpenAI(
    model=os.environ["MODEL"],
    base_url=os.environ["BASE_URL"] + "/v1",
    api_key=os.environ["API_KEY"],
)

answer = model.invoke("Say hello.")
assert answer.text == "Good morning.", answer
assert answer.usage_metadata["output_tokens"] == 3

pieces = [chunk.text for chunk in model.stream("Say hello.")]
assert "".join(pieces) == "Good morning.", pieces

city = model.with_structured_output(City, method="json_schema").invoke("Which city?")
assert city == City(city="Basel"), city

page = pathlib.Path(__file__).parents[2].joinpath("docs/clients.md").read_text()
(block,) = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
with contextlib.redirect_stdout(io.StringIO()) as printed:
    exec(block, {})
shown = re.compile(r"credits_charged: 8\nverify_url: http\S+/verify/job_\w+#wallet=\w+\ncost: 0.08\n")
assert shown.search(printed.getvalue()), printed.getvalue()

try:
    exec(block.replace('"max_credits": 8', '"max_credits": 7'), {})
    raise AssertionError("a price above its ceiling was paid")
except openai.UnprocessableEntityError as error:
    assert error.code == "price_above_limit", error
