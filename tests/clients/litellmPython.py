"""LiteLLM: plain, streamed, tools, what it takes as the cost, and its error."""

import json
import os

import litellm

options = {
    "model": "openai/" + os.environ["MODEL"],
    "api_base": os.environ["BASE_URL"] + "/v1",
    "api_key": os.environ["API_KEY"],
    "messages": [{"role": "user", "content": "Say hello."}],
}

answer = litellm.completion(**options)
assert answer.choices[0].message.content == "Good morning.", answer
assert answer.choices[0].message.reasoning_content == "Hm. "

keyed = [
    litellm.completion(**options, extra_headers={"Idempotency-Key": "two"}).svc["verify_url"]
    for _ in range(2)
]
assert keyed[0] == keyed[1] != answer.svc["verify_url"], keyed

cost = answer.svc["usdc_value"]
assert cost > 0 and answer._hidden_params["response_cost"] == cost, (cost, answer._hidden_params)

stream_options = {"include_usage": True}
chunks = list(litellm.completion(**options, stream=True, stream_options=stream_options))
pieces = [choice.delta.content or "" for chunk in chunks for choice in chunk.choices]
assert "".join(pieces) == "Good morning.", pieces
(svc,) = [chunk.svc for chunk in chunks if getattr(chunk, "svc", None)]
assert svc["verify_url"].startswith(os.environ["BASE_URL"] + "/verify/job_"), svc
assert chunks[-1].usage.cost == chunks[-1]._hidden_params["response_cost"] == cost, chunks[-1]

parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
tools = [{"type": "function", "function": {"name": "weather", "parameters": parameters}}]
question = {"role": "user", "content": "How warm are Basel and Bern?"}
options_with_tools = {**options, "messages": [question], "tools": tools}
called = litellm.completion(**options_with_tools).choices[0]
assert called.finish_reason == "tool_calls", called
chunks = list(litellm.completion(**options_with_tools, stream=True))
streamed = litellm.stream_chunk_builder(chunks).choices[0].message
for message in (called.message, streamed):
    calls = [json.loads(call.function.arguments)["city"] for call in message.tool_calls]
    assert calls == ["Basel", "Bern"], message
    results = [
        {"role": "tool", "tool_call_id": call.id, "content": "21 degrees"}
        for call in message.tool_calls
    ]
    options_with_tools["messages"] = [question, message, *results]
    ended = litellm.completion(**options_with_tools).choices[0].message
    assert ended.content == "It is 21 degrees and 21 degrees.", ended
forced = litellm.completion(
    **options, tools=tools, tool_choice={"type": "function", "function": {"name": "weather"}}
)
assert forced.choices[0].message.tool_calls[0].function.name == "weather", forced

try:
    litellm.completion(**{**options, "api_key": "svc_live_" + "x" * 32})
    raise AssertionError("a wrong key was taken")
except litellm.AuthenticationError:
    pass
