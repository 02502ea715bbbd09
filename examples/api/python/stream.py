# A streamed completion, with its usage at the end. The settlement follows when the stream is over:
# job.py reads it.
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
    if chunk.usage:
        print()
        print(chunk.usage)
print("job:", stream.response.headers["x-svc-job-id"])
