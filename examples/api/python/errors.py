# An error has a status, a code, the field it is about, and a link to what it means. Some have
# details: in those of a 402, affordable_max_tokens says what the balance covers.
import os

from openai import APIStatusError, OpenAI

client = OpenAI(base_url=os.environ["BASE_URL"] + "/v1", api_key=os.environ["API_KEY"])


def ask(model):
    return client.chat.completions.create(
        model=model,
        messages=[{"role": "user", "content": "Say hello."}],
    )


try:
    completion = ask("no-such-model")
except APIStatusError as error:
    print(error.status_code, error.code, error.param, error.body["docs"])
    if error.code != "model_not_found":
        raise
    completion = ask(client.models.list().data[0].id)
print(completion.choices[0].message.content)
