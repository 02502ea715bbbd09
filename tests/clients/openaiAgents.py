"""openai-agents, by default and in chat mode: a tool, plain, streamed, forced, handed over, and broken off."""

import asyncio
import os

from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, Runner, function_tool
from agents import set_default_openai_client, set_tracing_disabled
from openai import APIError, AsyncOpenAI
from pydantic import BaseModel

# Traces go to a service of its maker's.
set_tracing_disabled(True)


class City(BaseModel):
    city: str


@function_tool
def weather(city: str) -> str:
    """How warm a city is."""
    return f"21 degrees in {city}"


client = AsyncOpenAI(base_url=os.environ["BASE_URL"] + "/v1", api_key=os.environ["API_KEY"])
set_default_openai_client(client, use_for_tracing=False)
by_default = os.environ["MODEL"]
in_chat_mode = OpenAIChatCompletionsModel(os.environ["MODEL"], openai_client=client)
ANSWER = "It is 21 degrees in Basel."
BOTH = "It is 21 degrees in Basel and 21 degrees in Bern."


async def raised(work) -> str:
    try:
        await work
        raise AssertionError("half an answer was taken as a whole one")
    except APIError as error:
        return error.code


async def read(streamed) -> list:
    return [event async for event in streamed.stream_events()]


async def main(model) -> None:
    agent = Agent(name="guide", instructions="Be brief.", model=model, tools=[weather])
    assert (await Runner.run(agent, "How warm is Basel?")).final_output == ANSWER
    streamed = Runner.run_streamed(agent, "How warm are Basel and Bern?")
    kinds = [getattr(event, "name", event.type) for event in await read(streamed)]
    assert (kinds.count("tool_called"), streamed.final_output) == (2, BOTH), kinds
    forced = agent.clone(model_settings=ModelSettings(tool_choice="required"))
    assert (await Runner.run(forced, "Go on.")).final_output == ANSWER
    named = agent.clone(model_settings=ModelSettings(tool_choice="weather"))
    assert (await Runner.run(named, "Go on.")).final_output == ANSWER
    first = Agent(name="desk", model=model, handoffs=[agent])
    handed = await Runner.run(first, "How warm is Basel?")
    assert (handed.last_agent.name, handed.final_output) == ("guide", ANSWER), handed
    mapper = Agent(name="mapper", model=model, output_type=City)
    assert (await Runner.run(mapper, "Which city?")).final_output == City(city="Basel")
    # A further turn has the whole conversation in its input.
    again = [*handed.to_input_list(), {"role": "user", "content": "And now?"}]
    assert (await Runner.run(agent, again)).final_output == ANSWER
    assert await raised(Runner.run(agent, "Break off.")) == "worker_failed"
    assert await raised(read(Runner.run_streamed(agent, "Break off."))) == "worker_failed"


async def evidence() -> None:
    agent = Agent(name="guide", model=by_default)
    keyed = agent.clone(model_settings=ModelSettings(extra_headers={"Idempotency-Key": "agents"}))
    plain = [(await Runner.run(keyed, "Say hello.")).raw_responses[-1] for _ in range(2)]
    (job,) = {response.response_id for response in plain}
    assert job.startswith("resp_job_"), job
    events = await read(Runner.run_streamed(agent, "Say hello."))
    raw = [event.data for event in events if event.type == "raw_response_event"]
    deltas = [data.delta for data in raw if data.type == "response.output_text.delta"]
    assert deltas == ["Good ", "morning."], raw
    (end,) = [data for data in raw if data.type == "response.completed"]
    assert "/verify/job_" in end.response.svc["verify_url"], end


for model in (by_default, in_chat_mode):
    asyncio.run(main(model))
asyncio.run(evidence())
