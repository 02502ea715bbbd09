"""openai-agents in chat mode: an agent with a tool, plain, streamed, forced, and handed over."""

import asyncio
import os

from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, Runner, function_tool
from agents import set_tracing_disabled
from openai import AsyncOpenAI

# Traces go to a service of its maker's.
set_tracing_disabled(True)


@function_tool
def weather(city: str) -> str:
    """How warm a city is."""
    return f"21 degrees in {city}"


client = AsyncOpenAI(base_url=os.environ["BASE_URL"] + "/v1", api_key=os.environ["API_KEY"])
model = OpenAIChatCompletionsModel(os.environ["MODEL"], openai_client=client)
ANSWER = "It is 21 degrees in Basel."
BOTH = "It is 21 degrees in Basel and 21 degrees in Bern."


async def main() -> None:
    agent = Agent(name="guide", instructions="Be brief.", model=model, tools=[weather])
    assert (await Runner.run(agent, "How warm is Basel?")).final_output == ANSWER
    streamed = Runner.run_streamed(agent, "How warm are Basel and Bern?")
    kinds = [event.name async for event in streamed.stream_events() if hasattr(event, "name")]
    assert (kinds.count("tool_called"), streamed.final_output) == (2, BOTH), kinds
    forced = agent.clone(model_settings=ModelSettings(tool_choice="required"))
    assert (await Runner.run(forced, "Go on.")).final_output == ANSWER
    named = agent.clone(model_settings=ModelSettings(tool_choice="weather"))
    assert (await Runner.run(named, "Go on.")).final_output == ANSWER
    first = Agent(name="desk", model=model, handoffs=[agent])
    handed = await Runner.run(first, "How warm is Basel?")
    assert (handed.last_agent.name, handed.final_output) == ("guide", ANSWER), handed


asyncio.run(main())
