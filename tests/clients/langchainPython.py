"""LangChain for Python: plain, streamed, structured, saved, and the block of docs/clients.md."""

import contextlib
import io
import os
import pathlib
import re

import httpx
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

keyed = [model.invoke("Hi.", extra_headers={"Idempotency-Key": "one"}) for _ in range(2)]
assert len({answer.response_metadata["id"] for answer in keyed}) == 1, keyed

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


def save(response):
    response.read()
    folder = pathlib.Path(os.environ["SAVED"])
    name = "stream" if b'"stream":true' in response.request.content else "plain"
    (folder / f"{name}.answer").write_text(response.text, encoding="utf-8")
    (folder / f"{name}.request").write_bytes(response.request.content)


saving = ChatOpenAI(
    model=os.environ["MODEL"],
    base_url=os.environ["BASE_URL"] + "/v1",
    api_key=os.environ["API_KEY"],
    temperature=0.2,
    http_client=httpx.Client(event_hooks={"response": [save]}),
)
assert saving.invoke("Say hello.").text == "Good morning."
assert "".join(chunk.text for chunk in saving.stream("Say hello.")) == "Good morning."
