"""smolagents: a ToolCallingAgent, plain and streamed."""

import os

from smolagents import OpenAIModel, ToolCallingAgent, tool


@tool
def weather(city: str) -> str:
    """How warm a city is.

    Args:
        city: The city's name.
    """
    asked.append(city)
    return f"21 degrees in {city}"


asked = []
model = OpenAIModel(
    model_id=os.environ["MODEL"],
    api_base=os.environ["BASE_URL"] + "/v1",
    api_key=os.environ["API_KEY"],
)
for is_streamed in (False, True):
    agent = ToolCallingAgent(tools=[weather], model=model, stream_outputs=is_streamed, max_steps=3)
    answer = agent.run("How warm is Basel?")
    assert (answer, asked) == ("21 degrees in Basel", ["Basel"]), (answer, asked)
    asked.clear()
