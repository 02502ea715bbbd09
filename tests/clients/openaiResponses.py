"""The official Python client's responses: plain, streamed, parsed, tools, errors, and saved answers."""

import json
import os
import pathlib

import openai
from pydantic import BaseModel

MODEL = os.environ["MODEL"]
client = openai.OpenAI(base_url=os.environ["BASE_URL"] + "/v1", api_key=os.environ["API_KEY"])
asked = {"model": MODEL, "input": "Say hello."}


class City(BaseModel):
    city: str


class Weather(BaseModel):
    """How warm a city is."""

    city: str


def job_of(response):
    return response.svc["job_id"]


answer = client.responses.create(**asked)
assert (answer.status, answer.output_text) == ("completed", "Good morning."), answer
assert answer.output[0].type == "reasoning" and answer.output[0].content[0].text == "Hm. ", answer
assert (answer.usage.output_tokens, answer.usage.cost) == (3, 0.08), answer
assert (answer.id, answer.svc["credits_charged"]) == (f"resp_{job_of(answer)}", 8), answer
raw = client.responses.with_raw_response.create(**asked)
assert raw.headers["x-svc-job-id"] == job_of(raw.parse()), raw.headers

# Its events by themselves, and as its helper puts them together.
events = list(client.responses.create(**asked, stream=True))
pieces = [event.delta for event in events if event.type == "response.output_text.delta"]
assert pieces == ["Good ", "morning."], events
thoughts = [event.delta for event in events if event.type == "response.reasoning_text.delta"]
assert thoughts == ["Hm. "], events
assert [event.sequence_number for event in events] == list(range(len(events))), events
items = [event.item for event in events if event.type == "response.output_item.done"]
assert items == events[-1].response.output, events
assert events[-1].response.svc["verify_url"].startswith(os.environ["BASE_URL"]), events
with client.responses.stream(**asked) as stream:
    helped = [event.delta for event in stream if event.type == "response.output_text.delta"]
    final = stream.get_final_response()
assert (helped, final.output_text) == (pieces, "Good morning."), final
assert f"resp_{job_of(final)}" == final.id, final

# Parsed as a class, plain and streamed, and cut.
city = {"model": MODEL, "input": "Which city?", "text_format": City}
parsed = client.responses.parse(**city)
assert parsed.output_parsed == City(city="Basel") and parsed.svc["format_kept"] is True, parsed
with client.responses.stream(**city) as stream:
    assert stream.get_final_response().output_parsed == City(city="Basel")
cut = client.responses.create(**asked, max_output_tokens=1)
assert (cut.status, cut.incomplete_details.reason) == ("incomplete", "max_output_tokens"), cut

# Tools: each choice, two calls at once with their results, and the helper of streams.
tools = [openai.pydantic_function_tool(Weather, name="weather")]
basel, bern = Weather(city="Basel"), Weather(city="Bern")


def ask(text):
    items = [{"role": "user", "content": text}]
    return {"model": MODEL, "tools": tools, "input": items}


def calls_of(response):
    return [item for item in response.output if item.type == "function_call"]


def arguments_of(response):
    return [call.parsed_arguments for call in calls_of(response)]


assert arguments_of(client.responses.parse(**ask("How warm is Basel?"))) == [basel]
assert arguments_of(client.responses.parse(**ask("Hi."), tool_choice="auto")) == []
for choice in ("required", {"type": "function", "name": "weather"}):
    forced = client.responses.parse(**ask("Hi."), tool_choice=choice)
    assert arguments_of(forced) == [basel], forced
question = ask("How warm are Basel and Bern?")
single = client.responses.parse(**question, parallel_tool_calls=False)
assert arguments_of(single) == [basel], single
with client.responses.stream(**question) as stream:
    kinds = [event.type for event in stream]
    both = stream.get_final_response()
assert arguments_of(both) == [basel, bern], both
assert kinds.count("response.function_call_arguments.done") == 2, kinds
assert kinds.count("response.function_call_arguments.delta") > 2, kinds
# Its users send the whole output back, the reasoning with it.
results = [
    {"type": "function_call_output", "call_id": call.call_id, "output": f"{degrees} degrees"}
    for call, degrees in zip(calls_of(both), (21, 19), strict=True)
]
question["input"] += [*both.output, *results]
ended = client.responses.parse(**question)
assert ended.output_text == "It is 21 degrees and 19 degrees.", ended

# Errors: refused at the start with its class, and behind the first words with the code.
for refused, kind, code, param in (
    ({"model": "no-such-model"}, openai.BadRequestError, "model_not_found", "model"),
    ({"temperature": 9, "stream": True}, openai.BadRequestError, "invalid_request", "temperature"),
    ({"extra_body": {"max_credits": 7}}, openai.UnprocessableEntityError, "price_above_limit", "max_credits"),
):
    try:
        client.responses.create(**{**asked, **refused})
        raise AssertionError(f"{refused} was answered")
    except kind as error:
        assert (error.code, error.param) == (code, param), error
try:
    client.with_options(api_key="svc_live_" + "x" * 32).responses.create(**asked)
    raise AssertionError("a wrong key was answered")
except openai.AuthenticationError as error:
    assert error.code == "invalid_api_key", error
broken = {"model": MODEL, "input": "Break off."}


def read_helped():
    with client.responses.stream(**broken) as stream:
        yield from stream


for events in (client.responses.create(**broken, stream=True), read_helped()):
    pieces = []
    try:
        for event in events:
            pieces.append(getattr(event, "delta", ""))
        raise AssertionError("half an answer was taken as a whole one")
    except openai.APIError as error:
        assert error.code == "worker_failed" and pieces[-1] == "Half ", (error, pieces)
        assert error.body["details"]["credits_refunded"] == 8, error.body


# Saved in each form in which its users have an answer, with the body that was sent for it.
sent = []
kept = {"event_hooks": {"request": [lambda request: sent.append(request.content)]}}
saving = client.with_options(http_client=openai.DefaultHttpxClient(**kept)).responses


def save(name, answer):
    folder = pathlib.Path(os.environ["SAVED"])
    (folder / f"{name}.answer").write_text(answer, encoding="utf-8")
    (folder / f"{name}.request").write_bytes(sent[-1])


def save_helped(name, request):
    with saving.stream(**request) as stream:
        save(name, stream.get_final_response().model_dump_json())


brief = {**asked, "instructions": "Be brief.", "temperature": 0.2, "metadata": {"run": "1"}}
for name, request in (("", brief), (" with calls", ask("How warm are Basel and Bern?"))):
    save("parsed" + name, saving.parse(**request).model_dump_json())
    save_helped("helped stream" + name, request)
    request["tools"] = json.loads(sent[-1]).get("tools")
    save("plain" + name, saving.create(**request).model_dump_json())
    save("raw plain" + name, saving.with_raw_response.create(**request).text)
    lines = [event.model_dump_json() for event in saving.create(**request, stream=True)]
    save("events" + name, "\n".join(lines))
    with saving.with_streaming_response.create(**request, stream=True) as response:
        save("raw stream" + name, response.read().decode())
save("parsed text", saving.parse(**city).model_dump_json())
save_helped("helped stream, parsed", city)
