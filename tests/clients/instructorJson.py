"""instructor in its JSON modes and its default one, which forces a tool, over the official client."""

import os

import instructor
import openai
from pydantic import BaseModel


class City(BaseModel):
    city: str


for mode in (instructor.Mode.JSON, instructor.Mode.JSON_SCHEMA, instructor.Mode.TOOLS):
    client = instructor.from_openai(
        openai.OpenAI(base_url=os.environ["BASE_URL"] + "/v1", api_key=os.environ["API_KEY"]),
        mode=mode,
    )
    city = client.chat.completions.create(
        model=os.environ["MODEL"],
        messages=[{"role": "user", "content": "Which city?"}],
        response_model=City,
        max_retries=0,
        extra_headers={"Idempotency-Key": mode.value},
    )
    assert city.city == "Basel", city
    pieces = client.chat.completions.create_partial(
        model=os.environ["MODEL"],
        messages=[{"role": "user", "content": "Which city?"}],
        response_model=City,
    )
    assert list(pieces)[-1].city == "Basel"
