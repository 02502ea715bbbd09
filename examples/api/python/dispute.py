# A dispute, if another text arrived than the worker proved, within 60 s of the settlement.
# answer.txt is the text of JOB_ID as it arrived, without a newline at its end.
import hashlib
import os
from pathlib import Path

from openai import OpenAI

client = OpenAI(base_url=os.environ["BASE_URL"] + "/v1", api_key=os.environ["API_KEY"])

digest = hashlib.sha256(Path("answer.txt").read_bytes()).hexdigest()
answer = client.post(
    f"/jobs/{os.environ['JOB_ID']}/dispute",
    cast_to=object,
    body={"received_output_hash": f"sha256:{digest}"},
)
print(answer)
