"""LiteLLM: plain, streamed, and its error."""

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

pieces = [chunk.choices[0].delta.content or "" for chunk in litellm.completion(**options, stream=True)]
assert "".join(pieces) == "Good morning.", pieces

try:
    litellm.completion(**{**options, "api_key": "svc_live_" + "x" * 32})
    raise AssertionError("a wrong key was taken")
except litellm.AuthenticationError:
    pass
