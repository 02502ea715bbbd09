# The models that can be asked, with their prices in credits.
import os

from openai import OpenAI

client = OpenAI(base_url=os.environ["BASE_URL"] + "/v1", api_key=os.environ["API_KEY"])

for model in client.models.list():
    print(model.id, model.svc["credits_per_request"], model.svc["credits_per_1k_tokens"])
