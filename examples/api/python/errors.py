# An error has a status, a code, the field it is about, and a link to what it means. Some have
# details: this request may lock one credit at most, and credits_required says what it takes.
import os

from openai import APIStatusError, OpenAI

client = OpenAI(base_url=os.environ["BASE_URL"] + "/v1", api_key=os.environ["API_KEY"])


def ask(max_credits):
    return client.chat.completions.create(
        model="qwen3-8b",
        messages=[{"role": "user", "content": "Say hello."}],
        extra_body={"max_credits": max_credits},
    )


try:
    completion = ask(1)
except APIStatusError as error:
    print(error.status_code, error.code, error.param, error.body["docs"])
    if error.code != "price_above_limit":
        raise
    print(error.body["details"])
    completion = ask(error.body["details"]["credits_required"])
print(completion.choices[0].message.content)
