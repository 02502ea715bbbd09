"""Pydantic AI: an agent, plain, streamed, with tools, and with a structured output of both kinds."""

import asyncio
import os

from pydantic import BaseModel
from pydantic_ai import Agent, NativeOutput
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIChatModelSettings
from pydantic_ai.providers.openai import OpenAIProvider


class City(BaseModel):
    city: str


provider = OpenAIProvider(base_url=os.environ["BASE_URL"] + "/v1", api_key=os.environ["API_KEY"])
model = OpenAIChatModel(os.environ["MODEL"], provider=provider)


async def main() -> None:
    agent = Agent(model)
    assert (await agent.run("Say hello.")).output == "Good morning."

    keyed = OpenAIChatModelSettings(extra_headers={"Idempotency-Key": "three"})
    runs = [await agent.run("Say hello.", model_settings=keyed) for _ in range(2)]
    assert len({run.response.provider_response_id for run in runs}) == 1, runs

    settings = OpenAIChatModelSettings(openai_include_unmapped_response_data=True)
    async with agent.run_stream("Say hello.", model_settings=settings) as stream:
        pieces = [piece async for piece in stream.stream_text(delta=True)]
    assert "".join(pieces) == "Good morning.", pieces
    (chunk,) = stream.response.provider_details["unmapped"]["chunks"]
    assert "/verify/job_" in chunk["response"]["svc"]["verify_url"], chunk

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
    async with warm.run_stream("How warm are Basel and Bern?") as stream:
        text = await stream.get_output()
    assert text == "It is 21 degrees in Basel and 21 degrees in Bern.", text
    assert sorted(asked) == ["Basel", "Basel", "Bern"], asked


asyncio.run(main())
