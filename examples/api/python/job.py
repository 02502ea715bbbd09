# A job with its ledger record, the last settled jobs, and the balance. JOB_ID is the x-svc-job-id
# of a completion.
import os

from openai import OpenAI

client = OpenAI(base_url=os.environ["BASE_URL"] + "/v1", api_key=os.environ["API_KEY"])

job = client.get(f"/jobs/{os.environ['JOB_ID']}", cast_to=object)
print(job["status"], job["credits_charged"], job["on_chain"]["settlement_tx"])

jobs = client.get("/jobs", cast_to=object, options={"params": {"status": "settled", "limit": 5}})
for job in jobs["data"]:
    print(job["id"], job["model"], job["credits_charged"])

account = client.get("/account", cast_to=object)
print(account["wallet"], account["credits_remaining"])
