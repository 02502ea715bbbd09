# An error has a status, a code, and a link to what it means. A 402 comes with details: what was
# needed, what is left, and the max_tokens that would be covered.
import os

from openai import APIStatusError, OpenAI

client = OpenAI(base_url=os.environ["BASE_URL"] + "/v1", api_key=os.environ["API_KEY"])


def ask(max_tokens):
    return client.chat.completions.create(
        model="qwen3-8b",
        messages=[{"role": "user", "content": "Write a novel."}],
        max_tokens=max_tokens,
    )


try:
    completion = ask(30_000)
except APIStatusError as error:
    print(error.status_code, error.code, error.body["docs"])
    if error.code != "insufficient_credits":
        raise
    print(error.body["details"])
    completion = ask(error.body["details"]["affordable_max_tokens"])
print(completion.choices[0].message.content)
