# A request that may be repeated: under its key it is answered once and charged once.
import os
from uuid import uuid4

from openai import OpenAI

client = OpenAI(base_url=os.environ["BASE_URL"] + "/v1", api_key=os.environ["API_KEY"])

key = str(uuid4())
for attempt in 1, 2:
    response = client.chat.completions.with_raw_response.create(
        model="qwen3-8b",
        messages=[{"role": "user", "content": "Say hello."}],
        extra_headers={"Idempotency-Key": key},
    )
    print(response.headers["x-svc-job-id"], response.headers.get("x-svc-replayed"))
