"""LangChain's tools and agents, and LangGraph's: plain, streamed, parallel, and structured by a tool."""

import os

from langchain.agents import create_agent
from langchain.agents.structured_output import ToolStrategy
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent
from pydantic import BaseModel


class City(BaseModel):
    city: str


asked = []


@tool
def weather(city: str) -> str:
    """How warm a city is."""
    asked.append(city)
    return f"21 degrees in {city}"


model = ChatOpenAI(
    model=os.environ["MODEL"],
    base_url=os.environ["BASE_URL"] + "/v1",
    api_key=os.environ["API_KEY"],
)
ANSWER = "It is 21 degrees in Basel."
BOTH = "It is 21 degrees in Basel and 21 degrees in Bern."

bound = model.bind_tools([weather])
answer = bound.invoke("How warm is Basel?")
assert [call["args"] for call in answer.tool_calls] == [{"city": "Basel"}], answer
assert answer.response_metadata["finish_reason"] == "tool_calls", answer
whole = None
for chunk in bound.stream("How warm are Basel and Bern?"):
    whole = chunk if whole is None else whole + chunk
assert [call["args"]["city"] for call in whole.tool_calls] == ["Basel", "Bern"], whole
forced = model.bind_tools([weather], tool_choice="weather").invoke("Say hello.")
assert [call["name"] for call in forced.tool_calls] == ["weather"], forced

for make in (create_agent, create_react_agent):
    agent = make(model, [weather])
    question = {"messages": [{"role": "user", "content": "How warm is Basel?"}]}
    asked.clear()
    assert agent.invoke(question)["messages"][-1].text == ANSWER
    assert asked == ["Basel"], asked
    question = {"messages": [{"role": "user", "content": "How warm are Basel and Bern?"}]}
    pieces = [piece.text for piece, _ in agent.stream(question, stream_mode="messages")]
    assert "".join(pieces).endswith(BOTH), pieces

city = model.with_structured_output(City, method="function_calling").invoke("Which city?")
assert city == City(city="Basel"), city
structured = create_agent(model, [], response_format=ToolStrategy(City))
found = structured.invoke({"messages": [{"role": "user", "content": "Which city?"}]})
assert found["structured_response"] == City(city="Basel"), found
