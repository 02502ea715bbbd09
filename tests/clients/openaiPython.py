"""The official Python client: plain, streamed, parsed, reasoning, saved, its bytes, and its error."""

import json
import os
import pathlib

import openai
from pydantic import BaseModel

MODEL = os.environ["MODEL"]
client = openai.OpenAI(base_url=os.environ["BASE_URL"] + "/v1", api_key=os.environ["API_KEY"])
messages = [{"role": "user", "content": "Say hello."}]


class City(BaseModel):
    city: str


answer = client.chat.completions.create(model=MODEL, messages=messages)
assert answer.choices[0].message.content == "Good morning.", answer
assert answer.choices[0].message.reasoning_content == "Hm. "
assert answer.usage.completion_tokens == 3

pieces = []
with client.chat.completions.stream(model=MODEL, messages=messages) as stream:
    pieces = [event.delta for event in stream if event.type == "content.delta"]
assert "".join(pieces) == "Good morning." and len(pieces) > 1, pieces

# The pages show code for this client, and say that it sends the same bytes as they do.
options = {"max_tokens": 9, "seed": 7, "stop": ["é"], "temperature": 0.5, "top_p": 1}
sent = client.chat.completions.with_raw_response.create(
    model=MODEL, stream=True, messages=messages, **options, extra_body={"max_credits": 9}
).http_request.read()
shown = {"model": MODEL, "stream": True, "messages": messages, **options, "max_credits": 9}
assert sent == json.dumps(shown, ensure_ascii=False, separators=(",", ":")).encode(), sent

parsed = client.chat.completions.parse(model=MODEL, messages=messages, response_format=City)
assert parsed.choices[0].message.parsed == City(city="Basel")

try:
    client.chat.completions.create(model="no-such-model", messages=messages)
    raise AssertionError("a model that does not exist was answered")
except openai.BadRequestError as error:
    assert (error.code, error.param) == ("model_not_found", "model"), error


def save(name, answer, request):
    folder = pathlib.Path(os.environ["SAVED"])
    (folder / f"{name}.answer").write_text(answer, encoding="utf-8")
    (folder / f"{name}.request").write_text(json.dumps(request), encoding="utf-8")


request = {"model": MODEL, "messages": messages, "temperature": 0.2, "stop": ["END"]}
save("plain", client.chat.completions.create(**request).model_dump_json(), request)
streamed = {**request, "stream": True}
chunks = [chunk.model_dump_json() for chunk in client.chat.completions.create(**streamed)]
save("chunks", "\n".join(chunks), streamed)
with client.chat.completions.with_streaming_response.create(**streamed) as response:
    save("raw stream", response.read().decode(), streamed)
raw = client.chat.completions.with_raw_response.create(**request)
save("raw plain answer", raw.text, request)
