# A response, streamed: the newer format of the same job. Nothing is stored, so a conversation is sent
# whole. The last event has the whole response with `svc`, which the official types pass through.
import os

from openai import OpenAI

client = OpenAI(base_url=os.environ["BASE_URL"] + "/v1", api_key=os.environ["API_KEY"])

with client.responses.stream(
    model="qwen3-8b",
    instructions="Be brief.",
    input="Say hello.",
    max_output_tokens=100,
) as stream:
    for event in stream:
        if event.type == "response.output_text.delta":
            print(event.delta, end="", flush=True)
    response = stream.get_final_response()
svc = response.model_extra["svc"]
print("\ncredits_charged:", svc["credits_charged"])
print("verify_url:", svc["verify_url"])
print("cost:", response.usage.model_extra["cost"])
