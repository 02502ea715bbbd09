"""CrewAI: an agent with a tool."""

import os

os.environ.update(CREWAI_DISABLE_TELEMETRY="true", OTEL_SDK_DISABLED="true")

from crewai import LLM, Agent, Crew, Task  # noqa: E402
from crewai.tools import tool  # noqa: E402

asked = []


@tool("weather")
def weather(city: str) -> str:
    """How warm a city is."""
    asked.append(city)
    return f"21 degrees in {city}"


llm = LLM(
    model="openai/" + os.environ["MODEL"],
    base_url=os.environ["BASE_URL"] + "/v1",
    api_key=os.environ["API_KEY"],
)
agent = Agent(role="guide", goal="Answer", backstory="A guide.", tools=[weather], llm=llm)
task = Task(description="How warm is Basel?", expected_output="One sentence.", agent=agent)
answer = Crew(agents=[agent], tasks=[task]).kickoff()
assert answer.raw == "It is 21 degrees in Basel.", answer.raw
assert asked == ["Basel"], asked
