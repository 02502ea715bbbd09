# A completion. The headers name its job, who answered, the two transactions, and what is left.
import os

from openai import OpenAI

client = OpenAI(base_url=os.environ["BASE_URL"] + "/v1", api_key=os.environ["API_KEY"])

response = client.chat.completions.with_raw_response.create(
    model="qwen3-8b",
    messages=[{"role": "user", "content": "Say hello."}],
    max_tokens=100,
)
completion = response.parse()
print(completion.choices[0].message.content)
print(completion.usage)
for name, value in response.headers.items():
    if name.startswith("x-svc-"):
        print(f"{name}: {value}")
