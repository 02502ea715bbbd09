# A streamed completion, with its usage at the end. The chunk with the finish reason has `svc`: what
# was charged, and where a browser checks it. The official types do not know it and pass it through.
import os

from openai import OpenAI

client = OpenAI(base_url=os.environ["BASE_URL"] + "/v1", api_key=os.environ["API_KEY"])

stream = client.chat.completions.create(
    model="qwen3-8b",
    messages=[{"role": "user", "content": "Say hello."}],
    max_tokens=100,
    stream=True,
    stream_options={"include_usage": True},
)
for chunk in stream:
    for choice in chunk.choices:
        print(choice.delta.content or "", end="", flush=True)
    if svc := chunk.model_extra.get("svc"):
        print("\ncredits_charged:", svc["credits_charged"])
        print("verify_url:", svc["verify_url"])
    if chunk.usage:
        print(chunk.usage)
