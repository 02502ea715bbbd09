"""The official Python client with tools: plain, streamed, forced, parallel, and a round with results."""

import json
import os

import openai
from pydantic import BaseModel


class Weather(BaseModel):
    """How warm a city is."""

    city: str


MODEL = os.environ["MODEL"]
client = openai.OpenAI(base_url=os.environ["BASE_URL"] + "/v1", api_key=os.environ["API_KEY"])
tools = [openai.pydantic_function_tool(Weather, name="weather")]
chosen = {"type": "function", "function": {"name": "weather"}}


def ask(text):
    return {"model": MODEL, "tools": tools, "messages": [{"role": "user", "content": text}]}


def calls_of(message):
    return [(call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls]


basel, bern = ("weather", {"city": "Basel"}), ("weather", {"city": "Bern"})
answer = client.chat.completions.create(**ask("How warm is Basel?"))
assert answer.choices[0].finish_reason == "tool_calls", answer
assert answer.choices[0].message.content is None, answer
assert calls_of(answer.choices[0].message) == [basel], answer
assert answer.usage.completion_tokens > 0, answer

# Auto leaves the choice to the model, and a forced one does not.
spoken = client.chat.completions.create(**ask("Say hello."), tool_choice="auto").choices[0]
assert (spoken.message.content, spoken.message.tool_calls) == ("Good morning.", None), spoken
for choice in ("required", chosen):
    forced = client.chat.completions.create(**ask("Say hello."), tool_choice=choice).choices[0]
    assert calls_of(forced.message) == [basel] and forced.finish_reason == "tool_calls", forced

# Two calls at once, and a round with their results; one alone where parallel calls are off.
question = ask("How warm are Basel and Bern?")
single = client.chat.completions.create(**question, parallel_tool_calls=False)
assert calls_of(single.choices[0].message) == [basel], single
both = client.chat.completions.create(**question, parallel_tool_calls=True).choices[0].message
assert calls_of(both) == [basel, bern], both
results = [
    {"role": "tool", "tool_call_id": call.id, "content": f"{degrees} degrees"}
    for call, degrees in zip(both.tool_calls, (21, 19), strict=True)
]
question["messages"] += [both, *results]
ended = client.chat.completions.create(**question)
assert ended.choices[0].message.content == "It is 21 degrees and 19 degrees.", ended
assert ended.choices[0].finish_reason == "stop", ended

# The helper of streams reads the pieces as calls, and the parser their arguments as the class.
with client.chat.completions.stream(**ask("How warm are Basel and Bern?")) as stream:
    events = list(stream)
done = [event for event in events if event.type == "tool_calls.function.arguments.done"]
assert [event.parsed_arguments for event in done] == [Weather(city="Basel"), Weather(city="Bern")], done
deltas = [event for event in events if event.type == "tool_calls.function.arguments.delta"]
assert len(deltas) > len(done), events
final = stream.get_final_completion().choices[0]
assert (calls_of(final.message), final.finish_reason) == ([basel, bern], "tool_calls"), final
parsed = client.chat.completions.parse(**ask("How warm is Basel?")).choices[0].message
assert parsed.tool_calls[0].function.parsed_arguments == Weather(city="Basel"), parsed

# A streamed round with a result.
question["stream"] = True
chunks = [chunk for chunk in client.chat.completions.create(**question) if chunk.choices]
text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
assert text == "It is 21 degrees and 19 degrees.", text
