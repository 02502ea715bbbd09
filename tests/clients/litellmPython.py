"""LiteLLM: plain, streamed, what it takes as the cost, and its error."""

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

try:
    litellm.completion(**{**options, "api_key": "svc_live_" + "x" * 32})
    raise AssertionError("a wrong key was taken")
except litellm.AuthenticationError:
    pass
