# A receiver of webhooks, with FastAPI: uvicorn webhook:app --port 3000
import hashlib
import hmac
import json
import os
import time

from fastapi import FastAPI, Request, Response

SECRET = os.environ["WEBHOOK_SECRET"]

# Yours belongs where it survives a restart, written together with what the event changes.
seen = set()
app = FastAPI()


def verify(raw_body: bytes, headers, secret: str) -> None:
    """Raises ValueError unless the service signed this body with the secret, just now.

    headers are the request's, as the framework has them: get() takes a name in any case.
    """
    if not secret:
        raise RuntimeError("the secret is empty: anybody could sign")
    # During a rotation there are two signatures: by the new secret, and by the one before.
    for name in ("svc-signature", "svc-signature-previous"):
        parts = dict(part.partition("=")[::2] for part in headers.get(name, "").split(","))
        signed_at, digest = parts.get("t", ""), parts.get("v1", "")
        expected = hmac.new(secret.encode(), f"{signed_at}.".encode() + raw_body, hashlib.sha256)
        if hmac.compare_digest(expected.hexdigest().encode(), digest.encode()):
            if abs(time.time() - int(signed_at)) > 300:
                raise ValueError("not signed within the last 300 seconds")
            return
    is_padded = secret != secret.strip().strip("\"'`")
    hint = ". The secret here has white space or a quote at an end" if is_padded else ""
    raise ValueError(f"not signed with this secret{hint}")


@app.post("/webhooks")
async def receive(request: Request):
    raw_body = await request.body()
    try:
        verify(raw_body, request.headers, SECRET)
    except ValueError as error:
        print("refused:", error, flush=True)
        return Response(str(error), status_code=400)
    event = json.loads(raw_body)
    if event["id"] not in seen:
        data = event["data"]
        if event["event"] == "job.completed":
            print(data["job_id"], "cost", data["credits_charged"], "credits", flush=True)
        else:
            print(event["event"], data, flush=True)
    seen.add(event["id"])
    # Within 10 seconds, or it counts as failed: long work comes after the answer.
    return Response(status_code=204)
