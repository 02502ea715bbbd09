"""LangChain for Python: plain, streamed, structured."""

import os

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
