"""LangChain for Python in both formats: plain, streamed, structured, tools, saved, and the block of the docs."""

import contextlib
import functools
import io
import operator
import os
import pathlib
import re

import httpx
import openai
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel


class City(BaseModel):
    city: str


settings = {
    "model": os.environ["MODEL"],
    "base_url": os.environ["BASE_URL"] + "/v1",
    "api_key": os.environ["API_KEY"],
}
BOTH = "How warm are Basel and Bern?"


@tool
def weather(city: str) -> str:
    """How warm a city is."""
    return f"21 degrees in {city}"


def check(model: ChatOpenAI) -> None:
    answer = model.invoke("Say hello.")
    assert answer.text == "Good morning.", answer
    assert answer.usage_metadata["output_tokens"] == 3

    headers = {"Idempotency-Key": f"langchain-{model.use_responses_api}"}
    keyed = [model.invoke("Hi.", extra_headers=headers) for _ in range(2)]
    (job,) = {answer.response_metadata["id"] for answer in keyed}
    assert "job_" in job, job

    whole = functools.reduce(operator.add, model.stream("Say hello."))
    assert whole.text == "Good morning.", whole
    assert not model.use_responses_api or whole.usage_metadata["output_tokens"] == 3, whole

    for method in ("json_schema", "function_calling"):
        city = model.with_structured_output(City, method=method).invoke("Which city?")
        assert city == City(city="Basel"), city

    bound = model.bind_tools([weather])
    streamed = functools.reduce(operator.add, bound.stream(BOTH))
    for called in (bound.invoke(BOTH), streamed):
        assert [call["args"]["city"] for call in called.tool_calls] == ["Basel", "Bern"], called
        results = [weather.invoke(call) for call in called.tool_calls]
        ended = bound.invoke([("user", BOTH), called, *results])
        assert ended.text == "It is 21 degrees in Basel and 21 degrees in Bern.", ended

    for ask in (model.invoke, lambda question: list(model.stream(question))):
        try:
            ask("Break off.")
            raise AssertionError("half an answer was taken as a whole one")
        except openai.APIError as error:
            assert error.code == "worker_failed", error


for use_responses_api in (None, True):
    check(ChatOpenAI(**settings, use_responses_api=use_responses_api))

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
    form = "stream" if b'"stream":true' in response.request.content else "plain"
    name = f"{response.request.url.path.split('/')[-1]} {form}"
    (folder / f"{name}.answer").write_text(response.text, encoding="utf-8")
    (folder / f"{name}.request").write_bytes(response.request.content)


for use_responses_api in (None, True):
    saving = ChatOpenAI(
        **settings,
        use_responses_api=use_responses_api,
        temperature=0.2,
        http_client=httpx.Client(event_hooks={"response": [save]}),
    )
    assert saving.invoke("Say hello.").text == "Good morning."
    assert "".join(chunk.text for chunk in saving.stream("Say hello.")) == "Good morning."
