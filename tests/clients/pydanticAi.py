"""Pydantic AI, by its short form and in chat mode: plain, streamed, tools, and structured output of both kinds."""

import asyncio
import os

from pydantic import BaseModel
from pydantic_ai import Agent, ModelHTTPError, ModelSettings, NativeOutput
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIChatModelSettings
from pydantic_ai.providers.openai import OpenAIProvider


class City(BaseModel):
    city: str


os.environ["OPENAI_BASE_URL"] = os.environ["BASE_URL"] + "/v1"
os.environ["OPENAI_API_KEY"] = os.environ["API_KEY"]
short = f"openai:{os.environ['MODEL']}"
provider = OpenAIProvider(base_url=os.environ["BASE_URL"] + "/v1", api_key=os.environ["API_KEY"])
in_chat_mode = OpenAIChatModel(os.environ["MODEL"], provider=provider)


async def streamed(agent: Agent, question: str) -> str:
    async with agent.run_stream(question) as stream:
        output = await stream.get_output()
    assert stream.response.finish_reason == "stop", stream.response
    return output


async def main(model) -> None:
    agent = Agent(model)
    assert (await agent.run("Say hello.")).output == "Good morning."
    assert await streamed(agent, "Say hello.") == "Good morning."

    keyed = ModelSettings(extra_headers={"Idempotency-Key": f"pydantic-{type(agent.model).__name__}"})
    runs = [await agent.run("Say hello.", model_settings=keyed) for _ in range(2)]
    (job,) = {run.response.provider_response_id for run in runs}
    assert "job_" in job, job

    for output_type in (NativeOutput(City), City):
        structured = Agent(model, output_type=output_type)
        assert (await structured.run("Which city?")).output == City(city="Basel")

    asked = []
    warm = Agent(model)

    @warm.tool_plain
    def weather(city: str) -> str:
        """How warm a city is."""
        asked.append(city)
        return f"21 degrees in {city}"

    assert (await warm.run("How warm is Basel?")).output == "It is 21 degrees in Basel."
    text = await streamed(warm, "How warm are Basel and Bern?")
    assert text == "It is 21 degrees in Basel and 21 degrees in Bern.", text
    assert sorted(asked) == ["Basel", "Basel", "Bern"], asked

    for run in (agent.run, lambda question: streamed(agent, question)):
        try:
            await run("Break off.")
            raise AssertionError("half an answer was taken as a whole one")
        except ModelHTTPError as error:
            assert error.body["code"] == "worker_failed", error


async def evidence() -> None:
    plain = (await Agent(short).run("Say hello.")).response
    assert plain.provider_response_id.startswith("resp_job_"), plain
    settings = OpenAIChatModelSettings(openai_include_unmapped_response_data=True)
    async with Agent(in_chat_mode).run_stream("Say hello.", model_settings=settings) as stream:
        pieces = [piece async for piece in stream.stream_text(delta=True)]
    assert "".join(pieces) == "Good morning.", pieces
    (chunk,) = stream.response.provider_details["unmapped"]["chunks"]
    assert "/verify/job_" in chunk["response"]["svc"]["verify_url"], chunk


for model in (short, in_chat_mode):
    asyncio.run(main(model))
asyncio.run(evidence())
