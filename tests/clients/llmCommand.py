"""llm, the command line: plain and streamed, with the service in its file of models."""

import os
import pathlib
import subprocess
import sys
import tempfile

with tempfile.TemporaryDirectory() as folder:
    models = f"""
- model_id: svc
  model_name: {os.environ["MODEL"]}
  api_base: {os.environ["BASE_URL"]}/v1
  api_key_name: svc
"""
    pathlib.Path(folder, "extra-openai-models.yaml").write_text(models)
    environment = {**os.environ, "LLM_USER_PATH": folder}
    llm = str(pathlib.Path(sys.executable).parent / "llm")
    for options in ([], ["--no-stream"]):
        command = [llm, "-m", "svc", "--key", os.environ["API_KEY"], "-u", *options, "Say hello."]
        run = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        assert run.stdout == "Good morning.\n", (run.stdout, run.stderr)
        assert '"cost": 0.08' in run.stderr, run.stderr
