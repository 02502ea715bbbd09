#!/usr/bin/env python3
"""Checks one job on the ledger, and what its client received, without the service.

    python3 svc_verify.py --rpc https://… --response answer.txt [--request request.json]
    python3 svc_verify.py --rpc https://… job_… --wallet …
    python3 svc_verify.py --vectors vectors.json

docs/receipt.md says what it computes, byte by byte. It needs Python 3.9 and the package `cryptography`.
The exit code is 0 only if everything that applies holds.
"""

import argparse
import base64
import hashlib
import http.client
import json
import re
import struct
import sys
import time
import unicodedata
import urllib.error
import urllib.parse
import urllib.request

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

PROGRAM = "8XLFurbAHp1Zg8Tyg23WoYhyy3XaYf6N17EAv4mKc2ok"


def main(arguments=None):
    options = parse_arguments(arguments)
    try:
        if options.vectors:
            return 0 if run_vectors(options.vectors) else 1
        report = verify_named(options)
    except (VerifyError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(render_json(report) if options.json else render(report, options.all))
    return 0 if report["result"] == "holds" else 1


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description="Checks one job on the ledger, without the service.")
    add = parser.add_argument
    add("job", nargs="?", help="a job id, a job's address, or the signature of a transaction of it")
    add("--rpc", help="the address of a ledger's node, whose answers are checked")
    add("--program", default=PROGRAM, help="another deployment of the program")
    add("--wallet", help="the job's wallet: needed for the id of a closed job")
    add("--response", help="a saved answer: JSON or a stream, with or without its headers")
    add("--request", help="the request's body, to compare what was asked")
    add("--salt", help="the answer's request_salt, where no --response has it")
    add("--output", help="the received text, to compare its hash")
    add("--receipt", help="the delivery receipt of the text")
    add("--card", help="the card of the job's model, to compare with what was pinned")
    add("--history-max", type=int, default=HISTORY_MAX, help="how far back the node is asked")
    add("--json", action="store_true", help="print JSON, with all checks")
    add("--all", action="store_true", help="show the checks that do not apply, too")
    add("--vectors", help="run the cases of this file")
    options = parser.parse_args(arguments)
    if not options.vectors and not options.rpc:
        parser.error("--rpc is needed: the address of a ledger's node")
    if not options.vectors and not options.job and not options.response:
        parser.error("name a job, or give a saved answer: --response")
    return options


def verify_named(options):
    def read(path):
        if path is None:
            return None
        with (sys.stdin.buffer if path == "-" else open(path, "rb")) as file:
            return file.read()

    return verify(
        RpcNode(options.rpc),
        job=options.job,
        response=read(options.response),
        request=read(options.request),
        salt=options.salt,
        output=read(options.output),
        receipt=options.receipt,
        card=read(options.card),
        wallet=options.wallet,
        program=options.program,
        history_max=options.history_max,
    )


class VerifyError(Exception):
    """A job could not be judged; the message says why."""


# ---- A whole verification


def verify(
    node,
    job=None,
    address=None,
    response=None,
    request=None,
    salt=None,
    output=None,
    receipt=None,
    card=None,
    wallet=None,
    program=PROGRAM,
    history_max=1000,
):
    """Judges a job by a node's answers, and what its client received by the job.

    job is an id, an address or a signature, and address one that is a job's without doubt.
    response, request, output and card are bytes; salt and receipt are texts as the answer has them.
    What is given beside a response takes the place of the response's own.
    """
    client = {"output": output, "receipt": receipt and receipt.strip(), "salt": salt, "answer": None}
    client["card"] = card
    client["request"] = None if request is None else read_request(request)
    client["limits"] = (None, None) if request is None else read_limits(request)
    if response is not None:
        read = read_answer(response)
        client["answer"] = read["answer"]
        text = encode_text(read["text"])
        for field, value in (("output", text), ("receipt", read["receipt"]), ("salt", read["salt"])):
            if client[field] is None:
                client[field] = value
        if job and parse_job_id(job) and job != read["job_id"]:
            raise VerifyError(f"The saved answer is of {read['job_id']}, and you named {job}.")
        job, wallet = job or read["job_id"], wallet or read["wallet"]
    if client["salt"] is not None:
        client["salt"] = salt_bytes(client["salt"])
    addresses = Addresses(program)
    address = address or locate(node, addresses, job, wallet)
    evidence = gather(node, addresses, address, history_max)
    if card is not None or request is not None:
        # A question is compared with the context window alone.
        evidence["model"] = gather_model(node, evidence, 0 if card is None else history_max)
    report = judge(evidence, client)
    found = report["job"]["id"]
    if response is not None and found not in (None, read["job_id"]):
        raise VerifyError(f"The saved answer is of {read['job_id']}, and you named {found}.")
    return report


def encode_text(value):
    """UTF-8, in which half of a character is replaced."""
    return re.sub("[\ud800-\udfff]", "\ufffd", value).encode()


def salt_bytes(salt):
    if not re.fullmatch("[0-9a-f]{64}", salt):
        raise VerifyError("A salt has 64 hex digits, in lower case.")
    return bytes.fromhex(salt)


def judge(evidence, client):
    """Judges without any read: the same evidence gives the same checks."""
    record = Record(evidence, client)
    if is_without_text(record):
        record.client = {**client, "output": None}
    if not record.events and record.account[0] == "none":
        raise VerifyError(f"The ledger's node knows no job at {record.job}.")
    checks = [check(record) for check in RULES]
    result, conclusion, _ = conclusion_of(checks)
    return {
        "result": result,
        "conclusion": conclusion,
        "program": record.addresses.program,
        "as_of": {"slot": evidence["slot"], "unix_time": evidence["now"]},
        "job": summarize(record),
        "checks": checks,
    }


def is_without_text(record):
    """An answer without text is compared where the job was charged."""
    text, stated = record.client.get("output"), record.client.get("answer")
    is_empty = text == b"" and stated is not None and "output_hash" not in stated
    return is_empty and not record.named("JobSettled")


def conclude(checks):
    """Only `holds` if nothing failed, and nothing was left unchecked for want of evidence."""
    found = {check["verdict"] for check in checks}
    if "fails" in found:
        return "fails"
    return "not_checkable" if "not_checkable" in found or "holds" not in found else "holds"


def summarize(record):
    def last(name):
        named = record.named(name)
        return named[-1] if named else None

    lock = record.named("JobLocked")[0] if record.named("JobLocked") else None
    given = last("JobAcknowledged")
    ended = last("DisputeResolved") or last("JobSettled")
    return {
        "address": record.job,
        "id": format_job_id(lock["job_id"]) if lock else None,
        "status": status_of(record.events),
        "model": lock["model_id"] if lock else None,
        "tier": lock["tier"] if lock else None,
        "wallet": lock["wallet"] if lock else None,
        "worker": given["worker"] if given else None,
        "credits_locked": lock["locked_credits"] if lock else 0,
        "credits_charged": ended["charged_credits"] if ended else 0,
    }


CONCLUSIONS = {
    "holds": ("The job holds.", "Everything that applies holds."),
    "fails": ("The job fails.", "The ledger contradicts what should hold."),
    "not_checkable": (
        "Not everything could be checked.",
        "There is no contradiction, but evidence is missing: this proves nothing.",
    ),
}
GIVEN = {
    "delivery.output": "Your text is not the proven one.",
    "delivery.request": "Your question is not the proven one.",
    "delivery.receipt": "Your receipt does not fit it.",
    "delivery.answer": "Your answer says something else of it.",
    "model.card": "Your card is not the pinned one.",
}


def conclusion_of(checks):
    """The result for people, and it in words: a text that differs fails no job."""
    of_job = conclude([check for check in checks if check["name"] not in GIVEN])
    differing = [one for one in checks if one["name"] in GIVEN and one["verdict"] == "fails"]
    if of_job == "fails" or not differing:
        result = conclude(checks)
        return result, *CONCLUSIONS[result]
    title = " ".join([CONCLUSIONS[of_job][0], *(GIVEN[one["name"]] for one in differing)])
    kept = "The node shows nothing that contradicts a rule." if of_job == "holds" else CONCLUSIONS[of_job][1]
    reasons = (one["detail"][:1].upper() + one["detail"][1:] for one in differing)
    return "differs", title, " ".join([kept, *reasons])


def render(report, show_all=False):
    job, checks = report["job"], report["checks"]
    lines = [
        f"{job['id'] or 'A job'} at {job['address']}: {job['status']}, {job['credits_charged']} of "
        f"{job['credits_locked']} locked credits charged, as of slot {report['as_of']['slot']}."
    ]
    for check in checks:
        if show_all or check["verdict"] != "not_applicable":
            lines.append(f"{check['verdict']:<14}  {check['name']:<27}  {check['detail']}")
    _, title, sentence = conclusion_of(checks)
    return "\n".join([*lines, f"{title} {sentence}"])


def render_json(report):
    """64-bit numbers as texts, as `svc verify --json` writes them."""

    def texts(part, *fields):
        return {**part, **{field: str(part[field]) for field in fields}}

    checks = [
        {**check, "evidence": [texts(place, "slot") for place in check["evidence"]]}
        for check in report["checks"]
    ]
    shown = {
        **report,
        "as_of": texts(report["as_of"], "slot", "unix_time"),
        "job": texts(report["job"], "credits_locked", "credits_charged"),
        "checks": checks,
    }
    return json.dumps(shown, indent=2, ensure_ascii=False)


# ---- What became of a check


def holds(detail):
    return ("holds", detail)


def fails(detail):
    return ("fails", detail)


def not_checkable(detail):
    return ("not_checkable", detail)


def not_applicable(detail):
    return ("not_applicable", detail)


def show(value):
    return value.hex() if isinstance(value, bytes) else str(value)


def compare(agreement, **pairs):
    """Compares what was found with what it must be, pair by pair."""
    differences = [
        f"{name} is {show(found)}, not {show(expected)}"
        for name, (found, expected) in pairs.items()
        if found != expected
    ]
    return fails("; ".join(differences) + ".") if differences else holds(agreement)


RULES = []
ENDINGS = ("JobSettled", "JobFailed", "JobRefunded")


def rule(name, *needs):
    """A rule about events of a job: the last one of each kind that it needs."""

    def register(judge_events):
        def check(record):
            found = [(record.named(need) or [None])[-1] for need in needs]
            if None in found:
                return checked(name, absence(needs[found.index(None)], record), [])
            return checked(name, judge_events(record, *found), [event.transaction for event in found])

        RULES.append(check)
        return check

    return register


def history_rule(name):
    """A rule about everything that happened to a job."""

    def register(judge_record):
        def check(record):
            finding = (
                judge_record(record)
                if record.events
                else not_checkable("The node shows nothing that happened to the job.")
            )
            return checked(name, finding, record.changing())

        RULES.append(check)
        return check

    return register


def unless_given(field, check):
    """For a rule about what the client may give: not applicable without it, whatever happened."""

    def check_given(record):
        found = check(record)
        if record.client.get(field) is not None:
            return found
        return checked(found["name"], not_applicable(f"No {field} was given."), [])

    return check_given


def checked(name, finding, transactions):
    places = {one.signature: {"signature": one.signature, "slot": one.slot} for one in transactions}
    verdict, detail = finding
    return {"name": name, "verdict": verdict, "detail": detail, "evidence": list(places.values())}


def absence(missing, record):
    ended = missing in ENDINGS and any(step.name in ENDINGS for step in record.steps)
    if record.is_complete or ended:
        return not_applicable(f"The job has no {missing}.")
    return not_checkable(f"The node does not show all of the job's history, and no {missing}.")


# ---- The rules, in the order of a job's life

NODE_SAYS_WHO_SIGNED = "In a version that is not known here, only the node says who signed."
NOT_SHOWN = "In a version that is not known here, the node does not show the signed messages."
# Anybody can cause these, also a lying node with a key of its own: the sender proves nothing.
OPEN_TO_ANYBODY = ("JobProven", "JobRefunded", "DisputeExpired", "JobClosed")


@history_rule("history.signatures")
def history_signatures(record):
    transactions = record.changing()
    unsigned = [one.signature for one in transactions if not one.is_signed()]
    if unsigned:
        return fails(f"Not what its signers signed: {', '.join(unsigned)}.")
    unknown = [one for one in transactions if one.message is None]
    by_role = {
        event.transaction.signature
        for event in record.events
        if event.transaction in unknown and event.name not in OPEN_TO_ANYBODY
    }
    if by_role:
        return not_checkable(NODE_SAYS_WHO_SIGNED)
    return holds(f"All signers signed what is shown. Transactions: {len(transactions) - len(unknown)}.")


@history_rule("history.authenticity")
def history_authenticity(record):
    known = {event["job_sequence"] for event in record.events}
    imitations = [one for each in record.transactions for one in lookalikes(each, record.job)]
    substitutes = [
        f"{name} was written by {writer}"
        for name, sequence, writer in imitations
        if not record.is_complete and sequence not in known
    ]
    if substitutes:
        return fails(f"{'; '.join(substitutes)}, not by the program itself.")
    return holds(
        f"The program's event authority signed them. Events: {len(record.events)}. "
        f"Ignored imitations: {len(imitations)}."
    )


@history_rule("history.sequence")
def history_sequence(record):
    events = record.events
    misplaced = [
        f"{event.name} ({event['job_sequence']})"
        for event, previous in zip(events, [None, *events])
        if not follows(event, previous)
    ]
    if misplaced:
        return fails(f"Out of place on the ledger: {', '.join(misplaced)}.")
    if not record.is_complete:
        reasons = sorted({reason for _, reason in record.unread})
        return not_checkable(" ".join(["The node does not show every change of the job.", *reasons]))
    return holds(f"{', '.join(event.name for event in events)}; none is missing.")


def follows(event, previous):
    if event["slot"] != event.transaction.slot:
        return False
    if previous is None:
        return event["job_sequence"] > 1 or event.name == "JobLocked"
    if previous["job_sequence"] == event["job_sequence"]:
        return False
    if previous.transaction is not event.transaction:
        return previous.transaction.slot <= event.transaction.slot
    return (previous.outer, previous.inner) < (event.outer, event.inner)


@history_rule("history.states")
def history_states(record):
    path, disputed = [], False
    for event in record.events:
        status = path[-1] if path else None
        if not is_possible(event.name, status) or (disputed and event.name == "JobDisputed"):
            if not record.is_complete:
                return not_checkable("What came between the events that the node shows is not known.")
            return fails(f"{event.name} is not possible after {' → '.join(path) or 'nothing'}.")
        disputed = disputed or event.name == "JobDisputed"
        path.append(status_after(event, status))
    return holds(f"{' → '.join(path)}.")


@rule("lock.address", "JobLocked")
def lock_address(record, lock):
    addresses = record.addresses
    return compare(
        "Job, credit account and model are where id, wallet and model put them.",
        the_job=(record.job, addresses.job(lock["credit_account"], lock["job_id"])),
        the_credit_account=(lock["credit_account"], addresses.credit_account(lock["wallet"])),
        the_model=(lock["model"], addresses.model(lock["model_id"])),
    )


@rule("lock.price", "JobLocked")
def lock_price(_record, lock):
    due = max(lock["credits_per_request"], price_of(lock, lock["token_limit"]))
    return compare(
        f"{lock['model_id']} ({lock['tier']}), at most {lock['token_limit']} tokens: {due} credits.",
        the_lock=(lock["locked_credits"], due),
    )


def price_of(terms, tokens):
    """Credits for so many tokens, before the lock bounds them."""
    if tokens <= terms["long_completion_threshold_tokens"]:
        return terms["credits_per_request"]
    return -(-tokens * terms["credits_per_1k_tokens"] // 1000)


@rule("lock.balances", "JobLocked")
def lock_balances(record, lock):
    return judge_balances(record, lock, -lock["locked_credits"], lock["locked_credits"], lock)


@rule("model.card", "JobLocked")
def model_card(record, lock):
    model = record.model
    try:
        card = parse_json((record.client["card"] or b"").decode("utf-8-sig", "replace"))
        given = sha256(canonical_json(card).encode())
    except (ValueError, RecursionError) as error:
        return fails(f"The card has no canonical form. {error}")
    hashes = card_hashes_in_force(model, lock.transaction) if model else []
    if not hashes:
        return not_checkable("The node does not show what the model pinned when the job was locked.")
    if not any(map(any, hashes)):
        return not_applicable("The model pinned no card when the job was locked.")
    if given in hashes:
        return holds(f"{lock['model_id']} promised sha256:{given.hex()}; what ran is not shown.")
    pinned = " or ".join(one.hex() for one in hashes)
    return fails(f"The card's hash is sha256:{given.hex()}, and the pinned one sha256:{pinned}.")


RULES[-1] = unless_given("card", RULES[-1])


def card_hashes_in_force(model, at):
    """What the model may have pinned at a transaction; nothing where a change is missing."""
    account, by_sequence = model["account"], {one["model_sequence"]: one for one in model["records"]}
    hashes = []
    for sequence in range(account["sequence"], 0, -1):
        change = by_sequence.get(sequence)
        if change is None:
            # Never changed: the account itself says what it began with.
            return [account["card_hash"]] if account["sequence"] == 1 else []
        if change.name == "ModelRetired" or is_before(at, change.transaction):
            continue
        hashes.append(change["card_hash"])
        if is_before(change.transaction, at):
            break
    return hashes


@rule("work.attempts", "JobAcknowledged")
def work_attempts(record, _last):
    attempts = [event["attempt"] for event in record.named("JobAcknowledged")]
    if all(one > before for one, before in zip(attempts, [0, *attempts])):
        return holds(f"Attempt {', '.join(map(str, attempts))}.")
    return fails(f"The attempts do not grow: {', '.join(map(str, attempts))}.")


@rule("work.assignment", "JobAcknowledged", "JobProven")
def work_assignment(record, _last, proven):
    # A later acknowledgement may have put the proof aside.
    earlier = [
        event
        for event in record.named("JobAcknowledged")
        if event["job_sequence"] <= proven["job_sequence"]
    ]
    given = earlier[-1] if earlier else None
    # A JobCompleted may say both.
    distance = 0 if given and given.place() == proven.place() else 1
    if given is None or given["job_sequence"] != proven["job_sequence"] - distance:
        return not_checkable("The node does not show what came right before the proof.")
    return compare(
        f"Proven by the worker of the last attempt, {proven['worker']}.",
        the_worker=(proven["worker"], given["worker"]),
        the_attempt=(proven["attempt"], given["attempt"]),
    )


@rule("proof.signature", "JobProven")
def proof_signature(record, proven):
    given = arguments_of(proven, ("job_prove", "job_complete"), record.addresses.program)
    if given is None:
        if proven.transaction.message is None:
            return not_checkable(NOT_SHOWN)
        return fails("No instruction of the transaction brings the signature of this proof.")
    message = proof_message(record.addresses.program, proven)
    if verify_hashed(proven["proof_key"], message, given["signature"]):
        return holds(f"{proven['proof_key']} signed the sha256 of the proof's {len(message)} bytes.")
    return fails(f"The signature is not {proven['proof_key']}'s of this proof.")


@rule("proof.key", "JobProven")
def proof_key(record, proven):
    recorded = [
        one["proof_key"] for one in workers_in_force(record, proven["worker"], proven.transaction)
    ]
    key = proven["proof_key"]
    if not recorded:
        return not_checkable("The node does not show how the worker registered.")
    if key in recorded:
        return holds(f"{key} was the worker's proof key.")
    account = record.worker["account"]
    if record.worker["has_gaps"] or (account and account["proof_key"] == key):
        return not_checkable(WORKER_NOT_SHOWN)
    return fails(f"The worker's proof key was {' or '.join(recorded)}, not {key}.")


WORKER_NOT_SHOWN = "The node does not show every change of the worker that may count."


@rule("proof.hash", "JobProven", "JobSettled")
def proof_hash(_record, proven, settled):
    fields = ("output_hash", "worker", "prompt_tokens", "completion_tokens")
    return compare(
        f"sha256:{proven['output_hash'].hex()}",
        **{field: (settled[field], proven[field]) for field in fields},
    )


def when_given(field, name, *needs):
    """A rule that compares what the client gave. Without a counterpart it cannot be checked."""

    def register(judge_events):
        of_events = rule(name, *needs)(judge_events)

        def check(record):
            found = of_events(record)
            is_missing = found["verdict"] == "not_applicable"
            return {**found, "verdict": "not_checkable"} if is_missing else found

        RULES[-1] = unless_given(field, check)
        return RULES[-1]

    return register


@when_given("output", "delivery.output", "JobProven")
def delivery_output(record, proven):
    text, due = record.client["output"] or b"", proven["output_hash"]
    if sha256(text) == due:
        return holds(f"The {len(text)} bytes of text have the proven sha256.")

    def is_proven(texts):
        return sha256(encode_text(texts[0])) == due

    difference = difference_of([text.decode("utf-8", "replace")], is_proven)
    if difference:
        return fails(f"The text differs from the proven one only in this: {difference}.")
    return fails(f"the text's sha256 is {sha256(text).hex()}, not {due.hex()}.")


@when_given("receipt", "delivery.receipt", "JobSettled")
def delivery_receipt(record, settled):
    parts = parse_receipt(record.client["receipt"] or "")
    if parts is None:
        return fails("It is not spelled as a delivery receipt.")
    signer, signature = parts

    def is_for(output_hash):
        message = receipt_message(record.addresses.program, settled["job"], output_hash)
        return verify_hashed(signer, message, signature)

    # Anybody can sign anything with a key of his own.
    if signer != settled["settled_by"]:
        return fails(f"It is signed by {signer}, who did not settle this job: it is no evidence.")
    if is_for(settled["output_hash"]):
        return holds(f"{signer}, who settled, signed that the proven text was delivered.")
    text = record.client["output"]
    if text is not None and is_for(sha256(text)):
        return fails(f"{signer} signed that the given text was delivered, and not the proven one.")
    return fails(f"{signer} did not sign that the proven text was delivered for this job.")


@when_given("request", "delivery.request", "JobLocked", "JobProven")
def delivery_request(record, lock, proven):
    request, salt = record.client["request"], record.client["salt"]
    if request is None or salt is None:
        return not_checkable("Without the salt, the answer's svc.request_salt, nothing compares it.")
    limit, due = lock["token_limit"], proven["request_commitment"]

    def commitment_to(given):
        return request_commitment(salt, {**given, "token_limit": limit})

    def is_proven(texts):
        messages = [{**one, "content": text} for one, text in zip(request["messages"], texts)]
        try:
            return commitment_to({**request, "messages": messages}) == due
        except ValueError:
            return False

    if commitment_to(request) == due:
        wrong = judge_limit(*record.client["limits"], request, lock, record.model)
        return wrong or holds(f"Salt and request, with at most {limit} tokens, give the proven commitment.")
    if request["model"] != lock["model_id"]:
        return fails(f"The request names another model, and the job is for {lock['model_id']}.")
    difference = difference_of([one["content"] for one in request["messages"]], is_proven)
    if difference:
        return fails(f"The messages differ from the proven ones only in this: {difference}.")
    return fails(f"the commitment is {commitment_to(request).hex()}, not {due.hex()}.")


def judge_limit(tokens_max, credits_max, request, lock, model):
    """None where the lock is within the ceiling, and has the limit that was asked for.

    It has less only where the context window leaves no more.
    """
    if credits_max is not None and lock["locked_credits"] > credits_max:
        return fails(f"The request may lock {credits_max} credits, and the job locked {lock['locked_credits']}.")
    limit, wanted = lock["token_limit"], free_token_limit(lock) if tokens_max is None else tokens_max
    if limit == wanted:
        return None
    differs = f"The request is for at most {wanted} tokens, and the job for {limit}"
    if limit > wanted:
        return fails(f"{differs}.")
    if not model:
        return not_checkable(f"{differs}. The node does not show the context window.")
    # No text has more tokens than bytes.
    size = sum(len(one["content"].encode()) for one in request["messages"])
    window = model["account"]["context_window_tokens"]
    if size + wanted > window and limit >= window - size:
        return None
    return fails(f"{differs}, though the context window leaves more.")


def free_token_limit(terms):
    """The limit of a request that names none: the most tokens for the price of one request."""
    rate, most = terms["credits_per_1k_tokens"], 2**32 - 1
    at_rate = min(terms["credits_per_request"] * 1000 // rate, most) if rate else most
    return max(at_rate, terms["long_completion_threshold_tokens"])


# What no answer of a charged job leaves out.
CHARGED = ("worker", "attempt", "output_hash", "credits_charged")


@when_given("answer", "delivery.answer", "JobLocked")
def delivery_answer(record, lock):
    stated = record.client["answer"] or {}
    proven = (record.named("JobProven") or [None])[-1]
    settled = (record.named("JobSettled") or [None])[-1]
    is_free = status_of(record.events) in ("failed", "refunded")
    if stated.get("credits_charged", 0) > 0 and not is_free and not (proven and settled):
        return not_checkable("The node does not show the settlement yet.")
    charge = settled["charged_credits"] if settled else 0
    recorded = {
        "job_id": format_job_id(lock["job_id"]),
        "model": lock["model_id"],
        "escrow_tx": lock.transaction.signature,
        "worker": proven["worker"] if proven else "of no proof",
        "attempt": proven["attempt"] if proven else 0,
        "output_hash": f"sha256:{proven['output_hash'].hex()}" if proven else "of no proof",
        "credits_charged": charge,
        # A credit is a hundredth of the stablecoin.
        "usdc_value": charge / 100,
        "usage.cost": charge / 100,
        "settlement_tx": settled.transaction.signature if settled else "of no settlement",
    }
    if settled:
        recorded["usage.prompt_tokens"] = settled["prompt_tokens"]
        # The charge is for the lower of both counts.
        recorded["usage.completion_tokens"] = min(settled["completion_tokens"], settled["counted_tokens"])
    due = [field for field in recorded if field in stated or (settled and field in CHARGED)]
    pairs = {field: (stated.get(field, "missing"), recorded[field]) for field in due}
    return compare(f"The ledger records the same {', '.join(pairs)}.", **pairs)


COMBINED_LENGTH_MAX = 1024 * 1024


def changes():
    """Ways in which programs change a text that they keep: what differs, and the text before."""
    yield "a byte order mark", lambda text: text[1:] if text[:1] == "\ufeff" else text
    yield "line ends, CR LF for LF", lambda text: text.replace("\r\n", "\n")
    yield "line ends, LF for CR LF", lambda text: re.sub("\r?\n", "\r\n", text)
    for form in ("NFC", "NFD"):
        yield f"the Unicode normal form, which was {form}", normalizer(form)
    yield "a newline at the end", lambda text: re.sub("\r?\n\\Z", "", text)
    yield "white space at the end", lambda text: text.rstrip(SPACES)
    yield "white space at the start", lambda text: text.lstrip(SPACES)
    for space in ("\n", " ", "\n\n", "\r\n"):
        yield "white space that is missing at the end", appender(space)


def normalizer(form):
    return lambda text: unicodedata.normalize(form, text)


def appender(space):
    return lambda text: text + space


def difference_of(texts, is_proven):
    """How texts differ from the proven ones, where one such change, or two, is all."""
    known = list(changes())
    tried = [([], texts)]
    # Of a long text two would take too long.
    for _round in range(1 if sum(map(len, texts)) > COMBINED_LENGTH_MAX else 2):
        following = []
        for names, before in tried:
            for name, undo in known:
                undone = [undo(text) for text in before]
                if undone == before:
                    continue
                if is_proven(undone):
                    return ", and ".join([*names, name])
                following.append(([*names, name], undone))
        tried = following
    return None


@rule("settlement.signer", "JobSettled")
def settlement_signer(record, settled):
    program, key = record.addresses.program, settled["settled_by"]
    if settled.transaction.message is None:
        return not_checkable(NODE_SAYS_WHO_SIGNED)
    if key not in settled.transaction.signers:
        # No key signs for a program's address: its program does, in a call of its own.
        outer = settled.outer_call()
        through = outer and outer.program != program and key in outer.accounts
        if is_on_curve(base58_decode(key)) or not through:
            return fails(f"{key} did not sign the settlement.")
    asked = arguments_of(settled, ("job_settle", "job_complete"), program)
    if asked is None:
        return fails("No instruction of the transaction settles the job.")
    signed = {
        "output_hash" if field == "delivered_hash" else field: value
        for field, value in asked.items()
        if field != "signature"
    }
    return compare(
        f"Settled by {key}.",
        **{field: (settled.data.get(field), value) for field, value in signed.items()},
    )


@rule("settlement.charge", "JobLocked", "JobSettled")
def settlement_charge(_record, lock, settled):
    locked = lock["locked_credits"]
    tokens = min(settled["completion_tokens"], settled["counted_tokens"])
    due = min(price_of(lock, tokens), locked)
    return compare(
        f"{due} of {locked} locked credits for {tokens} tokens.",
        the_charge=(settled["charged_credits"], due),
        what_was_returned=(settled["returned_credits"], locked - due),
    )


BASE_UNITS_PER_CREDIT = 10_000
BASIS_POINTS = 10_000


@rule("settlement.share", "JobLocked", "JobSettled")
def settlement_share(_record, lock, settled):
    total = settled["charged_credits"] * BASE_UNITS_PER_CREDIT
    due = total * lock["treasury_share_basis_points"] // BASIS_POINTS
    return compare(
        f"Of {total} base units {due} to the treasury.",
        the_treasurys_share=(settled["treasury_base_units"], due),
        the_workers_share=(settled["worker_base_units"], total - due),
    )


@rule("settlement.balances", "JobLocked", "JobSettled")
def settlement_balances(record, lock, settled):
    locked = lock["locked_credits"]
    return judge_balances(record, settled, locked - settled["charged_credits"], -locked, lock)


@rule("settlement.worker_payment", "JobSettled")
def settlement_worker_payment(record, settled):
    in_force = workers_in_force(record, settled["worker"], settled.transaction)
    payouts = [one["payout"] for one in in_force]
    if not payouts:
        return not_checkable("The node does not show the worker's payout account.")
    to_others, _ = paid_by_vault(settled, record)
    stray = next((one for one in to_others if one[1] not in payouts), None)
    if stray:
        account = record.worker["account"]
        if record.worker["has_gaps"] or (account and account["payout"] == stray[1]):
            return not_checkable(WORKER_NOT_SHOWN)
        return fails(f"{stray[2]} base units went to {stray[1]}, not to {', '.join(payouts)}.")
    return judge_payment(
        to_others,
        settled["worker_base_units"],
        settled["worker_paid"],
        settled["worker_claimable_base_units"],
        "claimable by the worker",
    )


@rule("settlement.treasury_payment", "JobSettled")
def settlement_treasury_payment(record, settled):
    _, to_treasury = paid_by_vault(settled, record)
    return judge_payment(
        to_treasury,
        settled["treasury_base_units"],
        settled["treasury_paid"],
        settled["treasury_unpaid_base_units"],
        "unpaid to the treasury",
    )


def judge_payment(transfers, due, is_paid, owed, owed_as):
    paid = sum(base_units for _, _, base_units in transfers)
    if is_paid:
        return compare(f"{paid} base units.", the_payment=(paid, due))
    if paid > 0:
        return fails(f"{paid} base units were paid and recorded as {owed_as}.")
    if owed >= due:
        return holds(f"Not payable then: {due} base units, of {owed} {owed_as}.")
    return fails(f"Neither paid nor {owed_as}: {due} base units.")


def paid_by_vault(settled, record):
    """What the settlement moved out of the vault: to others, and to the treasury."""
    moved = [one for one in transfers_of(settled) if one[0] == record.addresses.vault]
    treasury = record.addresses.treasury_vault
    return [one for one in moved if one[1] != treasury], [one for one in moved if one[1] == treasury]


@rule("settlement.tokens", "JobSettled")
def settlement_tokens(record, settled):
    transaction = settled.transaction
    transfers = [one for call in transaction.instructions for one in read_transfers([call, *call.inner])]
    to_others, to_treasury = paid_by_vault(settled, record)
    touched = {account for one in to_others + to_treasury for account in one[:2]}
    pairs = {}
    for account in sorted(touched):
        before, after = transaction.tokens.get(account, (0, 0))
        came = sum(base_units for _, to, base_units in transfers if to == account)
        went = sum(base_units for source, _, base_units in transfers if source == account)
        pairs[account] = (after - before, came - went)
    return compare("The balances changed as the transfers say.", **pairs)


def judge_return(record, lock, end):
    # The sender of a refund can move tokens of its own in the same transaction.
    paid = [one for one in transfers_of(end) if one[0] == record.addresses.vault]
    if paid:
        return fails(f"{paid[0][2]} base units were paid to {paid[0][1]}.")
    return compare(
        f"All {lock['locked_credits']} locked credits, and no payment was made.",
        what_was_returned=(end["returned_credits"], lock["locked_credits"]),
    )


def judge_unlock(record, lock, end):
    return judge_balances(record, end, lock["locked_credits"], -lock["locked_credits"], lock)


rule("failure.returned", "JobLocked", "JobFailed")(judge_return)
rule("failure.balances", "JobLocked", "JobFailed")(judge_unlock)
rule("refund.returned", "JobLocked", "JobRefunded")(judge_return)
rule("refund.balances", "JobLocked", "JobRefunded")(judge_unlock)


def judge_balances(record, event, available_change, locked_change, lock):
    """Compares a credit account after an event with what it held before."""
    account, limit_day = event["credit_account"], lock["limit_day"]
    before = balances_before(record.credit_events, account, event["credit_sequence"])
    if before is None:
        return not_checkable("The node does not show what the credit account held before.")
    available, locked, spent = before
    sums = [] if spent is None else [spent]
    if sums and limit_day != 0:
        # The first lock of a day begins a sum of its own, and a later day gets nothing back.
        sums = [spent - available_change, -available_change if available_change < 0 else spent]
    pairs = {
        "what_is_available": (event["available_credits"], available + available_change),
        "what_is_locked": (event["account_locked_credits"], locked + locked_change),
    }
    if sums and event["spent_today_credits"] not in sums:
        pairs["the_days_sum"] = (event["spent_today_credits"], " or ".join(map(str, sums)))
    return compare(f"Available {available} → {event['available_credits']}.", **pairs)


def until(moment, deadline):
    if moment <= deadline:
        return holds(f"{deadline - moment} s before the deadline.")
    return fails(f"{moment - deadline} s after the deadline.")


def after(moment, deadline):
    if moment > deadline:
        return holds(f"{moment - deadline} s after the deadline.")
    return fails(f"{deadline - moment} s before the deadline.")


def work_deadline(lock):
    return lock["unix_time"] + lock["job_timeout_seconds"]


def dispute_deadline(lock, settled):
    return settled["unix_time"] + lock["dispute_window_seconds"]


def arbitration_deadline(lock, disputed):
    return disputed["unix_time"] + lock["arbitration_window_seconds"]


@rule("deadline.acknowledged", "JobLocked", "JobAcknowledged")
def deadline_acknowledged(record, lock, _last):
    times = [event["unix_time"] for event in record.named("JobAcknowledged")]
    return until(max(times), work_deadline(lock))


@rule("deadline.proven", "JobLocked", "JobProven")
def deadline_proven(_record, lock, proven):
    return until(proven["unix_time"], work_deadline(lock))


@rule("deadline.settled", "JobLocked", "JobSettled")
def deadline_settled(_record, lock, settled):
    return until(settled["unix_time"], work_deadline(lock))


@rule("deadline.failed", "JobLocked", "JobFailed")
def deadline_failed(_record, lock, failed):
    return until(failed["unix_time"], work_deadline(lock))


@rule("deadline.refunded", "JobLocked", "JobRefunded")
def deadline_refunded(_record, lock, refunded):
    return after(refunded["unix_time"], work_deadline(lock))


@rule("deadline.disputed", "JobLocked", "JobSettled", "JobDisputed")
def deadline_disputed(_record, lock, settled, disputed):
    return until(disputed["unix_time"], dispute_deadline(lock, settled))


@rule("deadline.amended", "JobLocked", "JobDisputed", "DisputeAmended")
def deadline_amended(_record, lock, disputed, amended):
    return until(amended["unix_time"], arbitration_deadline(lock, disputed))


@rule("deadline.resolved", "JobLocked", "JobSettled", "JobDisputed", "DisputeResolved")
def deadline_resolved(_record, lock, settled, disputed, resolved):
    open_until = dispute_deadline(lock, settled)
    if resolved["unix_time"] <= open_until:
        return fails(f"The job could still be disputed for {open_until - resolved['unix_time']} s.")
    return until(resolved["unix_time"], arbitration_deadline(lock, disputed))


@rule("deadline.expired", "JobLocked", "JobDisputed", "DisputeExpired")
def deadline_expired(_record, lock, disputed, expired):
    return after(expired["unix_time"], arbitration_deadline(lock, disputed))


# Anybody can send an overdue refund or expiry, but it has to be sent.
GRACE_SECONDS = 60


@history_rule("deadline.open")
def deadline_open(record):
    status = status_of(record.events)
    if status in ("settled", "failed", "refunded"):
        return not_applicable(f"The job is {status}.")
    locks, disputes = record.named("JobLocked"), record.named("JobDisputed")
    if not locks or not record.is_complete:
        return not_checkable("What the job waits for is not known.")
    is_disputed = status == "disputed" and disputes
    deadline = arbitration_deadline(locks[0], disputes[0]) if is_disputed else work_deadline(locks[0])
    if record.now <= deadline + GRACE_SECONDS:
        return holds(f"The job is {status}; its deadline is at {deadline}, and now is {record.now}.")
    return fails(f"The job is {status}, and {record.now - deadline} s overdue.")


@rule("dispute.opened", "JobLocked", "JobSettled", "JobDisputed")
def dispute_opened(_record, lock, settled, disputed):
    charged, repayable = disputed["charged_credits"], disputed["repayable_credits"]
    if disputed["output_hash"] == disputed["client_hash"]:
        return fails("The client's hash is the proven one.")
    exposed = repayable * BASE_UNITS_PER_CREDIT
    if disputed["disputed_exposure_base_units"] < exposed:
        return fails(f"The exposure does not cover {exposed} base units.")
    due = charged if lock["vouched"] else treasury_credits(charged, lock)
    return compare(
        f"{repayable} of {charged} credits can be repaid.",
        the_disputed_charge=(charged, settled["charged_credits"]),
        what_can_be_repaid=(repayable, due),
        the_disputed_hash=(disputed["output_hash"], settled["output_hash"]),
        the_disputed_worker=(disputed["worker"], settled["worker"]),
        the_end_of_arbitration=(disputed["arbitration_ends_at"], arbitration_deadline(lock, disputed)),
    )


def treasury_credits(charged, lock):
    return charged * lock["treasury_share_basis_points"] // BASIS_POINTS


@rule("dispute.amended", "JobLocked", "JobDisputed", "DisputeAmended")
def dispute_amended(_record, lock, disputed, amended):
    if disputed["disputed_by_wallet"]:
        return fails("The wallet itself had disputed the job.")
    if amended.transaction.message is None:
        return not_checkable(NODE_SAYS_WHO_SIGNED)
    if lock["wallet"] not in amended.transaction.signers:
        return not_checkable("A program signed for the wallet, in a call that no list shows.")
    return compare(
        f"{lock['wallet']} put its own hash in place of its controller's.",
        the_proven_hash=(amended["output_hash"], disputed["output_hash"]),
    )


@rule("dispute.evidence", "JobProven", "JobSettled", "DisputeResolved")
def dispute_evidence(record, proven, settled, resolved):
    program, verdict = record.addresses.program, resolved["verdict"]
    given = arguments_of(resolved, ("dispute_resolve",), program)
    if given is None:
        if resolved.transaction.message is None:
            return not_checkable(NOT_SHOWN)
        return fails("No instruction of the transaction gives the verdict.")
    if given["verdict"] != verdict:
        return fails(f"The verdict that was given is {given['verdict']}.")
    if verdict == "rejected":
        return compare(
            "A rejection needs no evidence.",
            the_hash_of_no_evidence=(resolved["evidence_hash"], bytes(32)),
        )
    key = given["key"]
    if verdict == "upheld_worker":
        # Both proofs, as the program puts them together: the recorded one, then the other.
        recorded = {**proven.data, "request_commitment": given["recorded_request_commitment"]}
        fields = ("output_hash", "prompt_tokens", "completion_tokens", "request_commitment")
        other = {**recorded, **{field: given[field] for field in fields}}
        messages = [proof_message(program, recorded), proof_message(program, other)]
        signatures = [given["recorded_signature"], given["signature"]]
    else:
        messages = [receipt_message(program, settled["job"], given["output_hash"])]
        signatures = [given["signature"]]
    if not all(verify_hashed(key, *signed) for signed in zip(messages, signatures)):
        return fails(f"A signature is not {key}'s.")
    if sha256(b"".join(messages)) != resolved["evidence_hash"]:
        return fails("The hash is not that of the messages.")
    if verdict == "upheld_worker":
        return judge_proofs(record, key, messages, proven)
    return judge_wrong_receipt(key, given["output_hash"], settled)


def judge_proofs(record, key, messages, proven):
    if messages[0] == messages[1]:
        return fails("Both messages are the same proof.")
    in_force = workers_in_force(record, proven["worker"], proven.transaction)
    keys = [one["proof_key"] for one in in_force]
    # proof.key judges whether the proof was by the worker's key.
    if key in (proven["proof_key"], *keys):
        return holds(f"{key} signed two different proofs of attempt {proven['attempt']}.")
    if not keys or record.worker["has_gaps"]:
        return not_checkable(WORKER_NOT_SHOWN)
    return fails(f"{key} was not the worker's proof key.")


def judge_wrong_receipt(key, output_hash, settled):
    if output_hash == settled["output_hash"]:
        return fails("The receipt names the proven text.")
    if key == settled["settled_by"]:
        return holds(f"{key}, who settled, signed that another text was delivered.")
    return not_checkable(f"{key} did not settle the job: whether it signed for the controller is not kept.")


@rule("dispute.resolved", "JobLocked", "JobDisputed", "DisputeResolved")
def dispute_resolved(_record, lock, disputed, resolved):
    outcome, charged = resolved["verdict"], disputed["charged_credits"]
    repaid, slashed = resolved["repaid_credits"], resolved["slashed_tokens"]
    is_borne = outcome != "upheld_worker" or slashed == lock["slash_tokens"]
    upheld = disputed["repayable_credits"] if is_borne else treasury_credits(charged, lock)
    slash_max = lock["slash_tokens"] if outcome == "upheld_worker" else 0
    if slashed > slash_max:
        return fails(f"{slashed} tokens were slashed, and {slash_max} may be.")
    if resolved["owed_credits"] < repaid:
        return fails(f"Of {repaid} repaid credits the treasury owes {resolved['owed_credits']}.")
    return compare(
        f"{outcome}: {repaid} credits to repay, {slashed} tokens slashed.",
        the_repayment=(repaid, 0 if outcome == "rejected" else upheld),
        what_stays_charged=(resolved["charged_credits"], charged - repaid),
        **exposure(disputed, resolved),
    )


@rule("dispute.expired", "JobDisputed", "DisputeExpired")
def dispute_expired(_record, disputed, expired):
    return compare("Expired undecided: the charge stands.", **exposure(disputed, expired))


def exposure(disputed, end):
    """Compared only where no other change of the treasury came in between."""
    if end["treasury_sequence"] != disputed["treasury_sequence"] + 1:
        return {}
    exposed = disputed["repayable_credits"] * BASE_UNITS_PER_CREDIT
    due = disputed["disputed_exposure_base_units"] - exposed
    return {"the_exposure_left": (end["disputed_exposure_base_units"], due)}


OLDER_ACCOUNT = "The node shows the account as it was before the last change that it lists."


@history_rule("account.state")
def account_state(record):
    kind, found = record.account
    if kind == "foreign":
        return fails(f"The account belongs to {found}.")
    if kind == "unreadable":
        return fails(found)
    if kind == "none":
        if record.named("JobClosed"):
            return not_applicable("The account is closed.")
        return not_checkable("The node shows neither the account nor what closed it.")
    events = record.events
    if found["sequence"] < events[-1]["job_sequence"]:
        return not_checkable(OLDER_ACCOUNT)
    is_whole = found["sequence"] <= len(events) and is_contiguous(events)
    if not is_whole or events[0].name != "JobLocked":
        return not_checkable("Without every event it is not known what the account should say.")
    expected = expected_account(events)
    return compare(
        f"All {len(expected)} fields of the account are as the events left them.",
        **{field: (found[field], value) for field, value in expected.items()},
    )


NO_KEY = "1" * 32
NO_HASH = bytes(32)
# The program measures what the timeout bounds in 16 bits.
SECONDS_MAX = 0xFFFF


def expected_account(events):
    """The account that a job's events, in their order, leave behind."""
    lock, *later = events
    empty = {"bool": False, "pubkey": NO_KEY, "bytes32": NO_HASH}
    account = {field: empty.get(kind, 0) for field, kind in layout_of("Job")}
    account.update({field: value for field, value in lock.data.items() if field in account})
    account.update(version=ACCOUNT_VERSION, bump=255, locked_at=lock["unix_time"])
    account.update(outcome="none", failure_reason="none")
    for event in later:
        account.update(change_of(event, account))
    account.update(sequence=len(events), status=status_of(events))
    return account


def change_of(event, account):
    # The ledger's clock may be set back a little: then no time has passed.
    seconds = max(event["unix_time"] - account["locked_at"], 0)
    in_time = min(seconds, SECONDS_MAX)

    def copied(*fields):
        return {field: event[field] for field in fields}

    if event.name == "JobAcknowledged":
        # A proof of the attempt before counts no more.
        unproven = {"output_hash": NO_HASH, "prompt_tokens": 0, "completion_tokens": 0}
        times = {"acknowledged_after_seconds": in_time, "proven_after_seconds": 0}
        return {**copied("worker", "attempt"), **unproven, **times}
    if event.name == "JobProven":
        proof = copied("output_hash", "prompt_tokens", "completion_tokens")
        return {**proof, "proven_after_seconds": in_time}
    if event.name == "JobSettled":
        charge = copied("charged_credits", "counted_tokens", "settled_by")
        return {**charge, "ended_after_seconds": seconds}
    if event.name == "JobCompleted":
        is_recorded = (account["attempt"], account["worker"]) == (event["attempt"], event["worker"])
        since = account["acknowledged_after_seconds"] if is_recorded else in_time
        return {
            **copied("worker", "attempt", "output_hash", "prompt_tokens", "completion_tokens"),
            **copied("charged_credits", "counted_tokens", "settled_by"),
            "acknowledged_after_seconds": since,
            "proven_after_seconds": in_time,
            "ended_after_seconds": seconds,
        }
    if event.name == "JobFailed":
        return {"failure_reason": event["reason"], "ended_after_seconds": seconds}
    if event.name == "JobRefunded":
        return {"ended_after_seconds": seconds}
    if event.name == "JobDisputed":
        return {**copied("client_hash", "disputed_by_wallet"), "disputed_after_seconds": seconds}
    if event.name == "DisputeAmended":
        return {**copied("client_hash"), "disputed_by_wallet": True}
    if event.name == "DisputeResolved":
        verdict = {"outcome": event["verdict"], "resolved_after_seconds": seconds}
        return {**copied("charged_credits"), **verdict}
    if event.name == "DisputeExpired":
        return {"outcome": "expired", "resolved_after_seconds": seconds}
    return {}


@rule("account.closed", "JobLocked", "JobClosed")
def account_closed(record, lock, closed):
    kind, found = record.account
    if kind == "job" and found["sequence"] < closed["job_sequence"]:
        return not_checkable(OLDER_ACCOUNT)
    if kind != "none":
        return fails("There is an account at the address again.")
    payer, rent, transaction = closed["rent_payer"], closed["rent_lamports"], closed.transaction
    returned = sum(
        event["rent_lamports"]
        for event in transaction.events
        if event.name == "JobClosed" and event["rent_payer"] == payer
    )
    fee = transaction.fee if transaction.signers[:1] == [payer] else 0
    before, after_it = transaction.lamports.get(payer, (0, 0))
    left = transaction.lamports.get(record.job, (0, 0))[0]
    # The sender can add lamports to both accounts, but take them from neither.
    if left > rent:
        return fails(f"The account had {left} lamports, and {rent} came back.")
    if after_it - before < returned - fee:
        found = f"The payer's lamports changed by {after_it - before}, not by {returned - fee}"
        # For a program's address its program signs, in a call that no list of signers shows.
        may_spend = payer in transaction.signers or not is_on_curve(base58_decode(payer))
        if may_spend:
            return not_checkable(f"{found}: it may have signed for some that it spent.")
        return fails(f"{found}.")
    return compare(
        f"{rent} lamports of rent went back to {payer}.",
        the_rent_payer=(payer, lock["rent_payer"]),
    )


# ---- A job's record: its events, picked out of the evidence

RUNNING = ("pending", "processing", "settling")
POSSIBLE_IN = {
    "JobLocked": (None,),
    "JobAcknowledged": RUNNING,
    "JobProven": ("processing",),
    "JobSettled": ("settling",),
    "JobCompleted": ("pending", "processing"),
    "JobFailed": RUNNING,
    "JobRefunded": RUNNING,
    "JobDisputed": ("settled",),
    "DisputeAmended": ("disputed",),
    "DisputeResolved": ("disputed",),
    "DisputeExpired": ("disputed",),
    "JobClosed": ("settled", "failed", "refunded"),
}
STATUS_AFTER = {
    "JobLocked": "pending",
    "JobAcknowledged": "processing",
    "JobProven": "settling",
    "JobSettled": "settled",
    "JobCompleted": "settled",
    "JobFailed": "failed",
    "JobRefunded": "refunded",
    "JobDisputed": "disputed",
    "DisputeAmended": "disputed",
    "DisputeExpired": "settled",
}


def is_possible(name, status):
    return status in POSSIBLE_IN[name]


def status_after(event, status):
    if event.name == "DisputeResolved":
        return "settled" if event["verdict"] == "rejected" else "refunded"
    # A closed job keeps its last state.
    return STATUS_AFTER.get(event.name, status or "pending")


def status_of(events):
    status = None
    for event in events:
        status = status_after(event, status)
    return status or "pending"


class Event:
    """An event, and its place on the ledger."""

    def __init__(self, name, data, transaction, outer, inner):
        self.name, self.data, self.transaction = name, data, transaction
        self.outer, self.inner = outer, inner

    def __getitem__(self, field):
        return self.data[field]

    def place(self):
        return (self.transaction.signature, self.outer, self.inner)

    def outer_call(self):
        """The instruction of the transaction within which it was emitted."""
        calls = self.transaction.instructions
        return calls[self.outer] if self.outer < len(calls) else None

    def renamed(self, name, **more):
        return Event(name, {**self.data, **more}, self.transaction, self.outer, self.inner)


class Record:
    def __init__(self, evidence, client):
        self.client = client
        self.addresses, self.job = evidence["addresses"], evidence["job"]
        self.account, self.now = evidence["account"], evidence["now"]
        self.transactions, self.unread = evidence["transactions"], evidence["unread"]
        self.credit_events, self.worker = evidence["credit_events"], evidence["worker"]
        self.model = evidence.get("model")
        self.events = job_events(self.transactions, self.job)
        self.steps = steps_of(self.events)
        self.is_complete = is_complete(self.events, self.account)

    def named(self, name):
        return [step for step in self.steps if step.name == name]

    def changing(self):
        """The transactions that changed the job."""
        return list({id(event.transaction): event.transaction for event in self.events}.values())


def job_events(transactions, job):
    events = [event for one in transactions for event in one.events if event.data.get("job") == job]
    return sorted(events, key=lambda event: event["job_sequence"])


def steps_of(events):
    """The events, with the acknowledgement, proof and settlement of a JobCompleted in its place."""
    steps, acknowledged = [], None
    for event in events:
        if event.name == "JobAcknowledged":
            acknowledged = event["attempt"]
        if event.name != "JobCompleted":
            steps.append(event)
            continue
        if event["attempt"] != acknowledged:
            steps.append(event.renamed("JobAcknowledged"))
        steps += [event.renamed("JobProven"), event.renamed("JobSettled")]
    return steps


def is_contiguous(events):
    return [event["job_sequence"] for event in events] == list(range(1, len(events) + 1))


def is_complete(events, account):
    """Each change adds one to a sequence that the account, or its closing, ends."""
    kind, found = account
    is_end_known = bool(events) and (
        events[-1].name == "JobClosed" or (kind == "job" and found["sequence"] == len(events))
    )
    return is_end_known and is_contiguous(events)


def workers_in_force(record, worker, at):
    """What recorded the worker's keys at a transaction: the last before it, and those of its slot."""
    own = [
        one
        for one in record.worker["records"]
        if one["worker"] == worker and record.addresses.worker(one["authority"]) == worker
    ]
    before = [one for one in own if is_before(one.transaction, at)]
    during = [
        one
        for one in own
        if one.transaction.slot == at.slot
        and not is_before(one.transaction, at)
        and not is_before(at, one.transaction)
    ]
    if before:
        return [before[-1], *during]
    return during if any(one.name == "WorkerRegistered" for one in during) else []


def is_before(one, other):
    if one.slot != other.slot:
        return one.slot < other.slot
    # Not every node gives the order within a slot.
    return None not in (one.index, other.index) and one.index < other.index


def credit_sequence(event, account):
    data = event.data
    if "credit_sequence" in data and data["credit_account"] == account:
        return data["credit_sequence"]
    return data["claimant_sequence"] if data.get("claimant") == account else None


def balances_before(events, account, sequence):
    """Walks back without a gap until both balances are known; None where the events do not reach."""
    by_sequence = {credit_sequence(event, account): event for event in events}
    known = {}
    for at in range(sequence - 1, 0, -1):
        event = by_sequence.get(at)
        if event is None:
            return None
        known = {**stated_balances(event), **known}
        if "available" in known and "locked" in known:
            return known["available"], known["locked"], known.get("spent")
    return None


def stated_balances(event):
    data = event.data
    if event.name == "CreditOpened":
        return {"available": 0, "locked": 0, "spent": 0}
    if event.name == "ClaimPaid":
        return {"available": data["available_credits"]}
    if "account_locked_credits" in data:
        return {
            "available": data["available_credits"],
            "locked": data["account_locked_credits"],
            "spent": data["spent_today_credits"],
        }
    if "available_credits" in data:
        return {"available": data["available_credits"], "locked": data["locked_credits"]}
    return {}


CALL_JOB_AT = {"job_prove": 0, "job_settle": 3, "job_complete": 3, "dispute_resolve": 3}


def arguments_of(event, names, program):
    """The arguments of the call that emitted an event: the last one about its job before it."""
    outer = event.outer_call()
    calls = [outer, *outer.inner[: event.inner]] if outer else []
    for call in reversed(calls):
        if call.program != program:
            continue
        for name in names:
            at = CALL_JOB_AT[name]
            if len(call.accounts) <= at or call.accounts[at] != event["job"]:
                continue
            if call.data[:8] != discriminator("global", name):
                continue
            try:
                return decode_struct(name, call.data[8:])
            except VerifyError:
                continue
    return None


TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
TRANSFER, TRANSFER_CHECKED = 3, 12


def transfers_of(event):
    """Transfers by the instruction that emitted an event, since the event before it."""
    earlier = [
        one.inner
        for one in event.transaction.events
        if one.outer == event.outer and one.inner < event.inner
    ]
    outer = event.outer_call()
    return read_transfers(outer.inner[max(earlier, default=-1) + 1 : event.inner] if outer else [])


def read_transfers(calls):
    """From, to and base units of what the SPL Token program moved."""
    found = []
    for call in calls:
        kind = call.data[0] if call.data else None
        if call.program != TOKEN_PROGRAM or kind not in (TRANSFER, TRANSFER_CHECKED):
            continue
        source, *others = [*call.accounts, "", "", ""]
        target = others[1] if kind == TRANSFER_CHECKED else others[0]
        if len(call.data) < 9:
            raise VerifyError("A token transfer has no amount.")
        found.append((source, target, struct.unpack_from("<Q", call.data, 1)[0]))
    return found


def lookalikes(transaction, job):
    """Bytes that look like an event of the job, written by another program than its own."""
    own = {(event.outer, event.inner) for event in transaction.events}
    key, found = base58_decode(job), []
    for at, outer in enumerate(transaction.instructions):
        for inner, call in enumerate([outer, *outer.inner], -1):
            if (at, inner) in own or key not in call.data:
                continue
            try:
                name, data = decode_event(call.data)
            except VerifyError:
                continue  # An ordinary instruction that names the job.
            if data.get("job") == job:
                found.append((name, data["job_sequence"], call.program))
    return found


# ---- Asking a node

HISTORY_MAX = 1000
PAGE = 1000
ROUNDS_MAX, ROUND_SECONDS = 5, 0.4
COMMITMENT = {"commitment": "confirmed"}
CLOCK = "SysvarC1ock11111111111111111111111111111111"
SYSTEM_PROGRAM = "1" * 32


def locate(node, addresses, named, wallet=None):
    """The address of a job by its id, its address, or the signature of a transaction of it."""
    job_id = parse_job_id(named)
    if job_id:
        if wallet:
            return addresses.job(addresses.credit_account(wallet), job_id)
        return locate_by_id(node, addresses, job_id)
    try:
        size = len(base58_decode(named))
    except VerifyError:
        size = 0
    if size == 32:
        if is_on_curve(base58_decode(named)):
            raise VerifyError(f"There is no job at {named}. It is the address of a key pair.")
        (kind, found), _ = read_job_account(node, addresses, named)
        if kind == "foreign":
            raise VerifyError(f"There is no job at {named}. The account belongs to {found}.")
        if kind == "unreadable":
            raise VerifyError(f"There is no job at {named}. {found}")
        return named
    if size == 64:
        return locate_by_signature(node, addresses, named, wallet)
    raise VerifyError(f"{named} is neither a job id, nor an address, nor a transaction's signature.")


def locate_by_id(node, addresses, job_id):
    filters = [
        {"memcmp": {"offset": 0, "bytes": base58_encode(discriminator("account", "Job"))}},
        {"memcmp": {"offset": offset_in("Job", "job_id"), "bytes": base58_encode(job_id)}},
    ]
    options = {**COMMITMENT, "encoding": "base64", "filters": filters}
    options["dataSlice"] = {"offset": 0, "length": 0}
    found = node.ask("getProgramAccounts", [addresses.program, options])
    keys = [text(fields(one).get("pubkey")) for one in items(found)]
    if not keys:
        raise VerifyError("No account has this job id. If the job is closed, name its wallet: --wallet.")
    if len(keys) > 1:
        raise VerifyError("Jobs of several wallets have this id: name one with --wallet.")
    return keys[0]


def locate_by_signature(node, addresses, signature, wallet):
    transaction, _ = read_transaction(node, addresses, signature)
    if transaction is None:
        raise VerifyError("The ledger's node does not show this transaction.")
    events = [event for event in transaction.events if "job" in event.data]
    own = {event["job"] for event in events if wallet and event.data.get("wallet") == wallet}
    jobs = own or {event["job"] for event in events}
    if not jobs:
        raise VerifyError("This transaction changed no job.")
    if len(jobs) > 1:
        raise VerifyError(f"This transaction changed several jobs: {', '.join(sorted(jobs))}.")
    return jobs.pop()


def gather(node, addresses, job, history_max=HISTORY_MAX):
    """Asks a node for everything about one job, and judges nothing of it."""
    account, slot, transactions, unread = read_one_moment(node, addresses, job)
    events = [event for one in transactions for event in one.events]
    return {
        "addresses": addresses,
        "job": job,
        "account": account,
        "slot": slot,
        "transactions": transactions,
        "unread": unread,
        "credit_events": gather_credit_events(node, addresses, job, events, history_max),
        "worker": gather_worker_records(node, addresses, job, events, history_max),
        "now": read_clock(node),
    }


def read_one_moment(node, addresses, job):
    """The account and the transactions that left it so: between two readings something may happen."""
    for round_ in range(ROUNDS_MAX):
        if round_ > 0:
            node.wait(ROUND_SECONDS)
        transactions, unread = [], []
        for transaction, failure in read_history(node, addresses, job):
            if transaction is None:
                unread.append(failure)
            elif job_events([transaction], job) or lookalikes(transaction, job):
                transactions.insert(0, transaction)
        account, slot = read_job_account(node, addresses, job)
        events = job_events(transactions, job)
        if is_one_moment(account, events[-1] if events else None):
            break
    return account, slot, transactions, unread


def is_one_moment(account, newest):
    kind, found = account
    if kind == "job":
        return newest is not None and found["sequence"] == newest["job_sequence"]
    return kind != "none" or newest is None or newest.name == "JobClosed"


def gather_credit_events(node, addresses, job, events, history_max):
    """Events of the job's credit account, with those before that say what it held."""
    account = next(
        (event["credit_account"] for event in events if event.name == "JobLocked" and event["job"] == job),
        None,
    )
    if account is None:
        return []
    known = list(events)
    for event in events:
        if "account_locked_credits" not in event.data or event["job"] != job:
            continue
        changes = 0
        if balances_before(known, account, event["credit_sequence"]) is not None:
            continue
        before = event.transaction.signature
        for earlier, _ in read_history(node, addresses, account, before=before):
            if earlier is None or all(credit_sequence(one, account) is None for one in earlier.events):
                continue
            known += earlier.events
            changes += 1
            is_known = balances_before(known, account, event["credit_sequence"]) is not None
            if is_known or changes == history_max:
                break
    return known


def gather_worker_records(node, addresses, job, events, history_max):
    """How the ledger recorded the keys of the job's worker, from its authority's transactions."""
    nothing = {"records": [], "has_gaps": False, "account": None}
    steps = steps_of([event for event in events if event.data.get("job") == job])
    proofs = [step for step in steps if step.name in ("JobProven", "JobSettled")]
    if not proofs:
        return nothing
    worker, first = proofs[0]["worker"], proofs[0].transaction.slot
    account = read_program_account(node, addresses, "Worker", worker)
    if account is None:
        return nothing
    records, has_gaps, signed = [], False, 0
    authority, last = account["authority"], proofs[-1].transaction.slot
    for transaction, _ in read_history(node, addresses, authority, slot_max=last):
        if transaction is None:
            has_gaps = True
            continue
        made = [
            event
            for event in transaction.events
            if event.name in ("WorkerRegistered", "WorkerUpdated") and event["worker"] == worker
        ]
        # Anybody can name the authority: what it did not sign does not count.
        if authority not in transaction.signers and not made:
            continue
        signed += 1
        records = made + records
        if any(one.transaction.slot < first for one in records) or signed == history_max:
            break
    return {"records": records, "has_gaps": has_gaps, "account": account}


def gather_model(node, evidence, history_max=HISTORY_MAX):
    """The account of the job's model, and its changes from now back to the last before the lock.

    They are read from the transactions of the program's authority, which alone can make them.
    """
    addresses = evidence["addresses"]
    events = job_events(evidence["transactions"], evidence["job"])
    lock = next((event for event in events if event.name == "JobLocked"), None)
    account = lock and read_program_account(node, addresses, "Model", lock["model"])
    model, signed = account and {"account": account, "records": []}, 0
    if not model or history_max == 0:
        return model
    config = read_program_account(node, addresses, "Config", addresses.find(b"config"))
    if not config:
        return None
    if card_hashes_in_force(model, lock.transaction):
        return model
    for transaction, _ in read_history(node, addresses, config["authority"]):
        if transaction is None:
            continue
        model["records"] += [
            event
            for event in transaction.events
            if event.name in ("ModelUpserted", "ModelRetired") and event["model"] == lock["model"]
        ]
        signed += config["authority"] in transaction.signers
        if card_hashes_in_force(model, lock.transaction) or signed == history_max:
            break
    return model


def read_history(node, addresses, address, before=None, slot_max=None):
    """What mentioned an address, newest first; failed transactions changed nothing."""
    first_page = None
    while True:
        options = {**COMMITMENT, "limit": PAGE, **({"before": before} if before else {})}
        page = [read_row(row) for row in items(node.ask("getSignaturesForAddress", [address, options]))]
        # Nodes list those of one slot in the order of its block, or in any order and say it.
        page = sorted_in_slots(page)
        for signature, slot, err, _ in page:
            # A node that does not know `before` begins at the newest again, without an end.
            if first_page is not None and signature in first_page:
                raise VerifyError(f"The ledger's node lists {signature} twice.")
            if err is None and (slot_max is None or slot <= slot_max):
                yield read_transaction(node, addresses, signature)
        if first_page is None:
            first_page = {row[0] for row in page}
        # A short page is not trusted to be the last one: rows can be missing from it.
        if not page:
            return
        before = page[-1][0]


def read_row(row):
    row = fields(row)
    index = row.get("transactionIndex")
    return (
        text(row.get("signature")),
        whole(row.get("slot")),
        row.get("err"),
        0 if index is None else whole(index),
    )


def sorted_in_slots(rows):
    """Newest first within each slot; the order of the slots is the node's."""
    runs = []
    for row in rows:
        if runs and runs[-1][0][1] == row[1]:
            runs[-1].append(row)
        else:
            runs.append([row])
    return [row for run in runs for row in sorted(run, key=lambda one: -one[3])]


def read_clock(node):
    account, _ = read_account(node, CLOCK)
    if account is None or len(account["data"]) < 40:
        raise VerifyError("The ledger's node shows no Clock.")
    return struct.unpack_from("<q", account["data"], 32)[0]


def read_account(node, address):
    found = fields(node.ask("getAccountInfo", [address, {**COMMITMENT, "encoding": "base64"}]))
    slot = whole(fields(found.get("context")).get("slot"))
    value = found.get("value")
    if value is None:
        return None, slot
    data = text([*items(fields(value).get("data")), None][0])
    return {"owner": text(value.get("owner")), "data": decode_base64(data)}, slot


def read_job_account(node, addresses, job):
    account, slot = read_account(node, job)
    return judge_job_account(account, addresses), slot


def judge_job_account(account, addresses):
    # After the closing anybody can send lamports there.
    if account is None or (account["owner"] == SYSTEM_PROGRAM and not account["data"]):
        return ("none", None)
    if account["owner"] != addresses.program:
        return ("foreign", account["owner"])
    try:
        return ("job", decode_account("Job", account["data"]))
    except VerifyError as error:
        return ("unreadable", str(error))


def read_program_account(node, addresses, name, address):
    account, _ = read_account(node, address)
    if account is None or account["owner"] != addresses.program:
        return None
    return decode_account(name, account["data"])


class NodeRefusal(VerifyError):
    def __init__(self, message, code=None):
        super().__init__(message)
        self.code = code


class RpcNode:
    """A ledger's node, asked over JSON-RPC."""

    def __init__(self, url, timeout_seconds=120):
        if not re.match(r"https?://", url):
            raise VerifyError("--rpc is no http or https address.")
        self.url, self.timeout_seconds = url, timeout_seconds

    def ask(self, method, params):
        question = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        body = json.dumps(question).encode()
        request = urllib.request.Request(self.url, body, {"content-type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=self.timeout_seconds) as response:
                answer = response.read()
        except urllib.error.HTTPError as error:
            answer = error.read()
        except (http.client.HTTPException, OSError) as error:
            raise VerifyError(f"The ledger's node cannot be reached: {error}") from error
        try:
            answer = fields(json.loads(answer))
        except (RecursionError, ValueError) as error:
            raise VerifyError(f"The ledger's node answered {method} in another form.") from error
        return result_of(method, answer)

    def wait(self, seconds):
        time.sleep(seconds)


def result_of(method, answer):
    error = answer.get("error")
    if error:
        error = error if isinstance(error, dict) else {}
        reason = error.get("message", "no reason given")
        raise NodeRefusal(f"The ledger's node refused {method}: {reason}", error.get("code"))
    if "result" not in answer:
        raise VerifyError(f"The ledger's node answered {method} without a result.")
    return answer["result"]


class SnapshotNode:
    """What a node answered once: `node` of a case in vectors.json."""

    def __init__(self, snapshot):
        self.snapshot = snapshot

    def ask(self, method, params):
        subject = params[0]
        if method == "getAccountInfo":
            return {"context": {"slot": self.snapshot["slot"]}, "value": self.account(subject)}
        if method == "getTransaction":
            found = self.snapshot["transactions"].get(subject)
            if isinstance(found, dict) and "error" in found:
                return result_of(method, found)
            return found
        if method == "getSignaturesForAddress":
            rows = self.snapshot["signatures"].get(subject, [])
            before = params[1].get("before")
            listed = [row["signature"] for row in rows]
            at = listed.index(before) + 1 if before in listed else 0
            return rows[at : at + params[1]["limit"]]
        if method == "getProgramAccounts":
            return [{"pubkey": one} for one in self.snapshot["accounts"] if self.passes(one, *params)]
        raise VerifyError(f"A snapshot does not answer {method}.")

    def account(self, address):
        if address == CLOCK and address not in self.snapshot["accounts"]:
            data = bytes(32) + struct.pack("<q", int(self.snapshot["unix_time"]))
            return {"owner": SYSTEM_PROGRAM, "data": [base64.b64encode(data).decode(), "base64"]}
        return self.snapshot["accounts"].get(address)

    def passes(self, address, program, options):
        value = self.snapshot["accounts"][address]
        if value is None or value["owner"] != program:
            return False
        data = decode_base64(value["data"][0])
        for each in options["filters"]:
            wanted = base58_decode(each["memcmp"]["bytes"])
            at = each["memcmp"]["offset"]
            if data[at : at + len(wanted)] != wanted:
                return False
        return True

    def wait(self, _seconds):
        """Nothing changes in it."""


def fields(value):
    if isinstance(value, dict):
        return value
    raise VerifyError("The ledger's node answered in another form: no object.")


def items(value):
    if isinstance(value, list):
        return value
    raise VerifyError("The ledger's node answered in another form: no list.")


def whole(value):
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise VerifyError("The ledger's node answered in another form: no number.")


def text(value):
    if isinstance(value, str):
        return value
    raise VerifyError("The ledger's node answered in another form: no text.")


def decode_base64(value):
    try:
        return base64.b64decode(value, validate=True)
    except ValueError as error:
        raise VerifyError("The ledger's node answered in another form: no base64.") from error


# ---- Transactions

VERSION_MAX = 127
KNOWN_VERSIONS = ("legacy", 0, 1)
UNSUPPORTED_VERSION = -32015


def read_transaction(node, addresses, signature):
    """The transaction and None, or None and why it cannot be read."""
    options = {**COMMITMENT, "maxSupportedTransactionVersion": VERSION_MAX}
    try:
        found = node.ask("getTransaction", [signature, {**options, "encoding": "base64"}])
        if found is not None and fields(found).get("version", "legacy") not in KNOWN_VERSIONS:
            # Its bytes have a form that is not known here. A node's JSON may show its accounts.
            if isinstance(found.get("transaction"), list):
                found = node.ask("getTransaction", [signature, {**options, "encoding": "json"}])
        if found is None or fields(found).get("meta") is None:
            return None, (signature, "The node lists a transaction and does not show it.")
        return Transaction(signature, found, addresses), None
    except MALFORMED as error:
        raise VerifyError("The ledger's node answered getTransaction in another form.") from error
    except UnknownForm:
        return None, (signature, "A transaction is of a version that is not read here.")
    except NodeRefusal as refusal:
        # Anybody can mention a job in a transaction of a newer version.
        if refusal.code != UNSUPPORTED_VERSION:
            raise
        return None, (signature, "A transaction is of a version that is not read here.")


MALFORMED = (AttributeError, IndexError, KeyError, OverflowError, TypeError)


class UnknownForm(VerifyError):
    """A message that shows not even its accounts, in a version whose form is not known."""


class Call:
    def __init__(self, program, accounts, data):
        self.program, self.accounts, self.data, self.inner = program, accounts, data, []


class Transaction:
    """A transaction with everything that the ledger keeps of it."""

    def __init__(self, signature, found, addresses):
        meta = fields(found["meta"])
        message = read_message(found)
        loaded = meta.get("loadedAddresses") or {}
        keys = [*message["keys"], *loaded.get("writable", []), *loaded.get("readonly", [])]

        def key(at):
            return keys[at] if 0 <= at < len(keys) else ""

        def call(program, accounts, data):
            return Call(key(program), [key(at) for at in accounts], data)

        self.signature, self.slot = signature, whole(found.get("slot"))
        # None in a version whose signed bytes are not known: then only the node says who signed.
        self.message = message["bytes"]
        self.signatures = message["signatures"]
        self.signers = keys[: message["signers"]]
        self.fee, self.index = whole(meta.get("fee")), found.get("transactionIndex")
        inner = {
            whole(each["index"]): [
                call(one["programIdIndex"], one["accounts"], base58_decode(one["data"]))
                for one in items(each["instructions"])
            ]
            for each in meta.get("innerInstructions") or []
        }
        # What a version that is not known says itself may be missing: what it called is there.
        self.instructions = [call(*each) for each in message["instructions"]]
        while len(self.instructions) <= max(inner, default=-1):
            self.instructions.append(Call("", [], b""))
        for at, calls in inner.items():
            self.instructions[at].inner = calls
        self.lamports = {
            one: (balances(meta, "preBalances", at), balances(meta, "postBalances", at))
            for at, one in enumerate(keys)
        }
        self.tokens = read_tokens(meta, key)
        self.events = []
        if meta.get("err") is None:
            self.events = list(own_events(self, addresses))

    def is_signed(self):
        """Whether all signers signed the bytes that are shown, and the first names the transaction."""
        first = self.signatures[0] if self.signatures else None
        if first is None or base58_encode(first) != self.signature:
            return False
        return self.message is None or (
            len(self.signatures) == len(self.signers)
            and all(
                verify_signature(key, self.message, one)
                for key, one in zip(self.signers, self.signatures)
            )
        )


def balances(meta, side, at):
    held = meta.get(side) or []
    return held[at] if at < len(held) else 0


def read_tokens(meta, key):
    """A token account that a transaction opens or closes is listed on one side only."""

    def amounts(side):
        rows = meta.get(side) or []
        return {key(row["accountIndex"]): int(row["uiTokenAmount"]["amount"]) for row in rows}

    before, after_it = amounts("preTokenBalances"), amounts("postTokenBalances")
    return {one: (before.get(one, 0), after_it.get(one, 0)) for one in {**before, **after_it}}


def own_events(transaction, addresses):
    """Only calls of the program to itself count, with the event authority as the only account."""
    for outer, instruction in enumerate(transaction.instructions):
        for inner, call in enumerate(instruction.inner):
            is_own = call.program == addresses.program and call.accounts == [addresses.event_authority]
            if is_own and call.data[:8] == EVENT_TAG:
                name, data = decode_event(call.data)
                yield Event(name, data, transaction, outer, inner)


def read_message(found):
    """Keys, instructions, signatures and signed bytes of a transaction."""
    version, shown = found.get("version", "legacy"), found["transaction"]
    is_known = version in KNOWN_VERSIONS
    if isinstance(shown, list):
        try:
            message = decode_wire(decode_base64(shown[0]))
        except VerifyError as error:
            if is_known:
                raise
            raise UnknownForm(str(error)) from error
        return message if is_known else {**message, "bytes": None, "signers": len(message["signatures"])}
    if is_known:
        raise VerifyError("The ledger's node answered getTransaction in another encoding.")
    return message_of_json(fields(shown))


def message_of_json(shown):
    """What the JSON of a version without a known form shows: its accounts at least."""
    message = fields(shown.get("message"))
    signatures = [base58_decode(one) for one in shown["signatures"]]
    instructions = []
    try:
        keys = [text(one) for one in items(message.get("accountKeys"))]
        for one in keys:
            if len(base58_decode(one)) != 32:
                raise VerifyError("An account's key has not 32 bytes.")
    except VerifyError as error:
        raise UnknownForm(str(error)) from error
    try:
        instructions = [
            (whole(one["programIdIndex"]), items(one["accounts"]), base58_decode(one["data"]))
            for one in items(message.get("instructions"))
        ]
    except (VerifyError, KeyError, TypeError):
        pass  # They may have any form.
    return {
        "keys": keys,
        "instructions": instructions,
        "signatures": signatures,
        "signers": len(signatures),
        "bytes": None,
    }


class Reader:
    """Reads bytes from front to back."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, length):
        if self.at + length > len(self.data):
            raise VerifyError("The bytes end too early.")
        self.at += length
        return self.data[self.at - length : self.at]

    def number(self, size, signed=False):
        return int.from_bytes(self.take(size), "little", signed=signed)

    def count(self):
        """Seven bits a byte, lowest first, in the fewest bytes."""
        value = 0
        for shift in (0, 7, 14):
            byte = self.number(1)
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                if (byte == 0 and shift > 0) or value > 0xFFFF:
                    break
                return value
        raise VerifyError("A count is malformed.")

    def counted(self):
        return self.take(self.count())

    def keys(self, count):
        return [base58_encode(self.take(32)) for _ in range(count)]

    def end(self):
        if self.at != len(self.data):
            raise VerifyError(f"{len(self.data) - self.at} bytes are left over.")


# The fields of a version 1 message's config, by the bits of its mask.
CONFIG_FIELDS = ((0b11, 8), (0b100, 4), (0b1000, 4), (0b10000, 4))


def decode_wire(wire):
    """A transaction as the ledger's network carries it: legacy, version 0 or version 1."""
    reader = Reader(wire)
    is_v1 = wire[:1] == b"\x81"
    signatures = [] if is_v1 else [reader.take(64) for _ in range(reader.count())]
    start = reader.at
    first = reader.number(1)
    if first >= 0x80 and first not in (0x80, 0x81):
        raise VerifyError("The version of a message is not known.")
    if (first == 0x81) != is_v1:
        raise VerifyError("Signatures stand before a message of version 1.")
    signers = reader.number(1) if first >= 0x80 else first
    reader.take(2)
    read = read_v1_body if is_v1 else read_counted_body
    keys, instructions = read(reader, first)
    message = wire[start : reader.at]
    if is_v1:
        signatures = [reader.take(64) for _ in range(signers)]
    reader.end()
    return {
        "keys": keys,
        "instructions": instructions,
        "signatures": signatures,
        "signers": signers,
        "bytes": message,
    }


def read_counted_body(reader, first):
    keys = reader.keys(reader.count())
    reader.take(32)
    instructions = [
        (reader.number(1), list(reader.counted()), reader.counted()) for _ in range(reader.count())
    ]
    if first == 0x80:
        for _ in range(reader.count()):
            reader.take(32)
            reader.counted()
            reader.counted()
    return keys, instructions


def read_v1_body(reader, _first):
    mask = reader.number(4)
    reader.take(32)
    instruction_count, key_count = reader.number(1), reader.number(1)
    keys = reader.keys(key_count)
    for bits, size in CONFIG_FIELDS:
        if mask & bits not in (0, bits):
            raise VerifyError("Half of a field of a config.")
        if mask & bits:
            reader.take(size)
        mask &= ~bits
    if mask:
        raise VerifyError("A config has fields that are not known.")
    heads = [(reader.number(1), reader.number(1), reader.number(2)) for _ in range(instruction_count)]
    return keys, [(program, list(reader.take(count)), reader.take(size)) for program, count, size in heads]


# ---- Layouts of events, accounts and arguments

EVENT_TAG = bytes.fromhex("e445a52e51cb9a1d")
ACCOUNT_VERSION = 3

# From programs/client/idl.json: first all events, then accounts, arguments, and the words of numbers.
TABLE = """
ConfigInitialized slot:u64 unix_time:i64 config_sequence:u64 authority:pubkey arbiter:pubkey
  credit_mint:pubkey stake_mint:pubkey treasury_share_basis_points:u16 unstake_cooldown_seconds:u32
  open_disputes_max:u8 minimum_stake_tokens:u64 slash_tokens:u32 job_credits_max:u64
  credit_account_credits_max:u64 treasury_floor_credits:u64 vault:pubkey treasury_vault:pubkey
  stake_vault:pubkey stake_decimals:u8 job_timeout_seconds:u32 dispute_window_seconds:u32
  arbitration_window_seconds:u32
ConfigUpdated slot:u64 unix_time:i64 config_sequence:u64 authority:pubkey arbiter:pubkey
  credit_mint:pubkey stake_mint:pubkey treasury_share_basis_points:u16 unstake_cooldown_seconds:u32
  open_disputes_max:u8 minimum_stake_tokens:u64 slash_tokens:u32 job_credits_max:u64
  credit_account_credits_max:u64 treasury_floor_credits:u64 earlier_floor_credits:u64
  earlier_floor_ends_at:i64
AuthorityProposed slot:u64 unix_time:i64 config_sequence:u64 authority:pubkey
  pending_authority:pubkey
AuthorityAccepted slot:u64 unix_time:i64 config_sequence:u64 authority:pubkey
PauseSet slot:u64 unix_time:i64 config_sequence:u64 deposits_paused:bool locks_paused:bool
TreasuryWithdrawn slot:u64 unix_time:i64 authority:pubkey destination:pubkey base_units:u64
  treasury_vault_base_units:u64
GatewayOpened slot:u64 unix_time:i64 gateway:pubkey gateway_sequence:u64 operator:pubkey
  signers:keys stopped:bool
GatewayUpdated slot:u64 unix_time:i64 gateway:pubkey gateway_sequence:u64 operator:pubkey
  signers:keys stopped:bool
GatewayVouched slot:u64 unix_time:i64 gateway:pubkey gateway_sequence:u64 operator:pubkey
  vouched:bool
ModelUpserted slot:u64 unix_time:i64 model:pubkey model_sequence:u64 id:string tier:Tier
  label:string originator:string context_window_tokens:u32 credits_per_request:u32
  credits_per_1k_tokens:u32 long_completion_threshold_tokens:u32 card_hash:bytes32 created_at:i64
  retires_at:i64
ModelRetired slot:u64 unix_time:i64 model:pubkey model_sequence:u64 id:string retires_at:i64
CreditOpened slot:u64 unix_time:i64 credit_account:pubkey credit_sequence:u64 wallet:pubkey
  spender:pubkey limit_per_job_credits:u64 limit_per_day_credits:u64
CreditBought slot:u64 unix_time:i64 credit_account:pubkey credit_sequence:u64 wallet:pubkey
  buyer:pubkey credits:u64 available_credits:u64 locked_credits:u64
CreditWithdrawn slot:u64 unix_time:i64 credit_account:pubkey credit_sequence:u64 wallet:pubkey
  destination:pubkey credits:u64 available_credits:u64 locked_credits:u64
SpenderSet slot:u64 unix_time:i64 credit_account:pubkey credit_sequence:u64 wallet:pubkey
  spender:pubkey limit_per_job_credits:u64 limit_per_day_credits:u64
LimitSet slot:u64 unix_time:i64 credit_account:pubkey credit_sequence:u64 wallet:pubkey
  limit_per_job_credits:u64 limit_per_day_credits:u64
WorkerRegistered slot:u64 unix_time:i64 worker:pubkey worker_sequence:u64 authority:pubkey
  proof_key:pubkey payout:pubkey endpoint:string
WorkerUpdated slot:u64 unix_time:i64 worker:pubkey worker_sequence:u64 authority:pubkey
  proof_key:pubkey previous_proof_key:pubkey proof_key_changed_at:i64 payout:pubkey endpoint:string
WorkerHosted slot:u64 unix_time:i64 worker:pubkey worker_sequence:u64 model:pubkey
WorkerUnhosted slot:u64 unix_time:i64 worker:pubkey worker_sequence:u64 model:pubkey
WorkerSuspended slot:u64 unix_time:i64 worker:pubkey worker_sequence:u64 suspended:bool
WorkerDeregistered slot:u64 unix_time:i64 worker:pubkey worker_sequence:u64
StakeDeposited slot:u64 unix_time:i64 worker:pubkey worker_sequence:u64 tokens:u64 stake_tokens:u64
  unstaking_tokens:u64 unstake_ready_at:i64 unstake_cooldown_seconds:u32
StakeUnlocked slot:u64 unix_time:i64 worker:pubkey worker_sequence:u64 tokens:u64 stake_tokens:u64
  unstaking_tokens:u64 unstake_ready_at:i64
StakeWithdrawn slot:u64 unix_time:i64 worker:pubkey worker_sequence:u64 tokens:u64 stake_tokens:u64
  unstaking_tokens:u64 unstake_ready_at:i64 destination:pubkey
SlashBurned slot:u64 unix_time:i64 treasury_sequence:u64 tokens:u64 slashed_stake_tokens:u64
JobLocked slot:u64 unix_time:i64 job:pubkey job_sequence:u32 job_id:bytes16 credit_account:pubkey
  credit_sequence:u64 wallet:pubkey controller:pubkey model:pubkey model_id:string tier:Tier
  token_limit:u32 credits_per_request:u32 credits_per_1k_tokens:u32
  long_completion_threshold_tokens:u32 treasury_share_basis_points:u16 slash_tokens:u32
  job_timeout_seconds:u16 dispute_window_seconds:u16 arbitration_window_seconds:u32 rent_payer:pubkey
  vouched:bool locked_credits:u64 available_credits:u64 account_locked_credits:u64 limit_day:u32
  spent_day:u32 spent_today_credits:u64
JobAcknowledged slot:u64 unix_time:i64 job:pubkey job_sequence:u32 job_id:bytes16 worker:pubkey
  attempt:u8 voided_worker:pubkey voided_attempt:u8 voided_output_hash:bytes32
JobProven slot:u64 unix_time:i64 job:pubkey job_sequence:u32 job_id:bytes16 worker:pubkey attempt:u8
  proof_key:pubkey output_hash:bytes32 prompt_tokens:u32 completion_tokens:u32
  request_commitment:bytes32
JobSettled slot:u64 unix_time:i64 job:pubkey job_sequence:u32 job_id:bytes16 credit_account:pubkey
  credit_sequence:u64 wallet:pubkey worker:pubkey worker_sequence:u64 settled_by:pubkey
  output_hash:bytes32 prompt_tokens:u32 completion_tokens:u32 counted_tokens:u32 charged_credits:u64
  returned_credits:u64 worker_base_units:u64 worker_paid:bool treasury_base_units:u64
  treasury_paid:bool worker_claimable_base_units:u64 jobs_settled:u64 treasury_sequence:u64
  treasury_unpaid_base_units:u64 available_credits:u64 account_locked_credits:u64
  spent_today_credits:u64
JobCompleted slot:u64 unix_time:i64 job:pubkey job_sequence:u32 job_id:bytes16 credit_account:pubkey
  credit_sequence:u64 wallet:pubkey worker:pubkey worker_sequence:u64 settled_by:pubkey attempt:u8
  proof_key:pubkey output_hash:bytes32 prompt_tokens:u32 completion_tokens:u32
  request_commitment:bytes32 counted_tokens:u32 charged_credits:u64 returned_credits:u64
  worker_base_units:u64 worker_paid:bool treasury_base_units:u64 treasury_paid:bool
  worker_claimable_base_units:u64 jobs_settled:u64 treasury_sequence:u64
  treasury_unpaid_base_units:u64 available_credits:u64 account_locked_credits:u64
  spent_today_credits:u64
JobFailed slot:u64 unix_time:i64 job:pubkey job_sequence:u32 job_id:bytes16 credit_account:pubkey
  credit_sequence:u64 wallet:pubkey reason:FailureReason returned_credits:u64 available_credits:u64
  account_locked_credits:u64 spent_today_credits:u64
JobRefunded slot:u64 unix_time:i64 job:pubkey job_sequence:u32 job_id:bytes16 credit_account:pubkey
  credit_sequence:u64 wallet:pubkey returned_credits:u64 available_credits:u64
  account_locked_credits:u64 spent_today_credits:u64
JobDisputed slot:u64 unix_time:i64 job:pubkey job_sequence:u32 job_id:bytes16 credit_account:pubkey
  credit_sequence:u64 wallet:pubkey treasury_sequence:u64 worker:pubkey client_hash:bytes32
  output_hash:bytes32 charged_credits:u64 repayable_credits:u64 disputed_by_wallet:bool
  open_disputes:u8 disputed_exposure_base_units:u64 arbitration_ends_at:i64
DisputeAmended slot:u64 unix_time:i64 job:pubkey job_sequence:u32 job_id:bytes16
  credit_account:pubkey wallet:pubkey worker:pubkey client_hash:bytes32 output_hash:bytes32
DisputeResolved slot:u64 unix_time:i64 job:pubkey job_sequence:u32 job_id:bytes16
  credit_account:pubkey credit_sequence:u64 wallet:pubkey worker:pubkey worker_sequence:u64
  treasury_sequence:u64 verdict:DisputeOutcome evidence_hash:bytes32 repaid_credits:u64
  charged_credits:u64 owed_credits:u64 open_disputes:u8 owed_base_units:u64
  disputed_exposure_base_units:u64 slashed_tokens:u64 slashed_stake_tokens:u64 stake_tokens:u64
  unstaking_tokens:u64
DisputeExpired slot:u64 unix_time:i64 job:pubkey job_sequence:u32 job_id:bytes16
  credit_account:pubkey credit_sequence:u64 wallet:pubkey treasury_sequence:u64 open_disputes:u8
  disputed_exposure_base_units:u64
JobClosed slot:u64 unix_time:i64 job:pubkey job_sequence:u32 job_id:bytes16 rent_payer:pubkey
  rent_lamports:u64
ClaimPaid slot:u64 unix_time:i64 claimant:pubkey claimant_kind:ClaimantKind claimant_sequence:u64
  treasury_sequence:u64 base_units:u64 credits:u64 remaining_base_units:u64 owed_base_units:u64
  unpaid_base_units:u64 available_credits:u64
Job version:u8 bump:u8 sequence:u32 status:JobStatus attempt:u8 tier:Tier outcome:DisputeOutcome
  failure_reason:FailureReason treasury_share_basis_points:u16 job_id:bytes16 credit_account:pubkey
  controller:pubkey model:pubkey worker:pubkey rent_payer:pubkey output_hash:bytes32
  client_hash:bytes32 settled_by:pubkey locked_at:i64 locked_credits:u64 charged_credits:u64
  credits_per_request:u32 credits_per_1k_tokens:u32 long_completion_threshold_tokens:u32
  token_limit:u32 prompt_tokens:u32 completion_tokens:u32 counted_tokens:u32 slash_tokens:u32
  job_timeout_seconds:u16 dispute_window_seconds:u16 arbitration_window_seconds:u32
  acknowledged_after_seconds:u16 proven_after_seconds:u16 ended_after_seconds:u32
  disputed_after_seconds:u32 resolved_after_seconds:u32 vouched:bool disputed_by_wallet:bool
  limit_day:u32
Worker version:u8 bump:u8 sequence:u64 authority:pubkey proof_key:pubkey payout:pubkey
  status:WorkerStatus stake_tokens:u64 unstaking_tokens:u64 unstake_ready_at:i64
  claimable_base_units:u64 jobs_settled:u64 registered_at:i64 endpoint_len:u8 endpoint:bytes128
  models_len:u8 models:keys16 unstake_cooldown_seconds:u32 previous_proof_key:pubkey
  proof_key_changed_at:i64 reserved:bytes20
Config version:u8 bump:u8 sequence:u64 authority:pubkey pending_authority:pubkey arbiter:pubkey
  credit_mint:pubkey stake_mint:pubkey vault:pubkey treasury_vault:pubkey stake_vault:pubkey
  vault_authority_bump:u8 stake_decimals:u8 treasury_share_basis_points:u16 job_timeout_seconds:u32
  dispute_window_seconds:u32 arbitration_window_seconds:u32 unstake_cooldown_seconds:u32
  open_disputes_max:u8 deposits_paused:bool locks_paused:bool minimum_stake_tokens:u64
  slash_tokens:u32 job_credits_max:u64 credit_account_credits_max:u64 treasury_floor_credits:u64
  earlier_floor_credits:u64 earlier_floor_ends_at:i64 reserved:bytes40
Model version:u8 bump:u8 sequence:u64 id_len:u8 id:bytes64 tier:Tier label_len:u8 label:bytes16
  originator_len:u8 originator:bytes32 context_window_tokens:u32 credits_per_request:u32
  credits_per_1k_tokens:u32 long_completion_threshold_tokens:u32 created_at:i64 retires_at:i64
  card_hash:bytes32 reserved:bytes32
job_prove output_hash:bytes32 prompt_tokens:u32 completion_tokens:u32 request_commitment:bytes32
  signature:bytes64
job_settle delivered_hash:bytes32 counted_tokens:u32
job_complete attempt:u8 output_hash:bytes32 prompt_tokens:u32 completion_tokens:u32
  counted_tokens:u32 request_commitment:bytes32 signature:bytes64
dispute_resolve verdict:DisputeOutcome key:pubkey recorded_request_commitment:bytes32
  recorded_signature:bytes64 output_hash:bytes32 prompt_tokens:u32 completion_tokens:u32
  request_commitment:bytes32 signature:bytes64
JobStatus pending processing settling settled failed refunded disputed
FailureReason none worker_error proof_missing proof_invalid output_mismatch empty_output client_gone
  lock_late context_length_exceeded lease_lost orphaned
DisputeOutcome none rejected upheld_gateway upheld_worker expired
Tier lite standard pro max
ClaimantKind credit_account worker treasury
WorkerStatus active suspended deregistered
"""
LAYOUTS = dict(row.split(None, 1) for row in re.split(r"\n(?! )", TABLE.strip()))
WORDS = {name: row.split() for name, row in LAYOUTS.items() if ":" not in row}
ACCOUNTS = ("Job", "Worker", "Config", "Model")
NO_EVENTS = (*ACCOUNTS, *CALL_JOB_AT, *WORDS)


def layout_of(name):
    """The fields of an event, an account or an instruction's arguments, and their types."""
    return [tuple(field.split(":")) for field in LAYOUTS[name].split()]


def discriminator(space, name):
    return hashlib.sha256(f"{space}:{name}".encode()).digest()[:8]


EVENT_NAMES = {discriminator("event", name): name for name in LAYOUTS if name not in NO_EVENTS}


def decode_event(data):
    """Name and fields of the bytes of a call that carries an event, the tag included."""
    name = EVENT_NAMES.get(data[8:16])
    if data[:8] != EVENT_TAG or name is None:
        raise VerifyError("The program emitted an event that is not known here.")
    return name, decode_struct(name, data[16:])


def decode_account(name, data):
    if data[:8] != discriminator("account", name):
        raise VerifyError(f"The account is no {name} of the program.")
    if data[8:9] != bytes([ACCOUNT_VERSION]):
        raise VerifyError(f"The account is a {name} of another version than {ACCOUNT_VERSION}.")
    return decode_struct(name, data[8:])


def decode_struct(name, data):
    reader = Reader(data)
    decoded = {field: read_value(reader, kind) for field, kind in layout_of(name)}
    reader.end()
    return decoded


NUMBERS = {"u8": 1, "u16": 2, "u32": 4, "u64": 8}


def read_value(reader, kind):
    if kind in NUMBERS:
        return reader.number(NUMBERS[kind])
    if kind == "i64":
        return reader.number(8, signed=True)
    if kind == "pubkey":
        return base58_encode(reader.take(32))
    if kind == "bool":
        return ("false", "true").index(one_of(("false", "true"), reader.number(1))) == 1
    if kind == "string":
        try:
            return reader.take(reader.number(4)).decode("utf-8")
        except UnicodeDecodeError as error:
            raise VerifyError("A text is not UTF-8.") from error
    if kind == "keys":
        return reader.keys(reader.number(4))
    if kind in WORDS:
        return one_of(WORDS[kind], reader.number(1))
    kind, size = re.fullmatch(r"(bytes|keys)(\d+)", kind).groups()
    return reader.take(int(size)) if kind == "bytes" else reader.keys(int(size))


def one_of(words, at):
    if at < len(words):
        return words[at]
    raise VerifyError(f"{at} stands for none of {', '.join(words)}.")


def offset_in(name, wanted):
    """Where in an account's bytes a field begins, all fields before it being of fixed size."""
    sizes = {**NUMBERS, "i64": 8, "pubkey": 32, "bool": 1}
    at = 8
    for field, kind in layout_of(name):
        if field == wanted:
            return at
        at += sizes.get(kind) or (1 if kind in WORDS else int(kind[5:]))
    raise KeyError(wanted)


# ---- Addresses


class Addresses:
    """Where the program keeps its accounts."""

    def __init__(self, program=PROGRAM):
        self.program = program
        self.id = base58_decode(program)
        if len(self.id) != 32:
            raise VerifyError("--program is no ledger address.")
        self.known = {}
        self.vault = self.find(b"vault")
        self.treasury_vault = self.find(b"treasury_vault")
        self.event_authority = self.find(b"__event_authority")

    def credit_account(self, wallet):
        return self.find(b"credit", base58_decode(wallet))

    def worker(self, authority):
        return self.find(b"worker", base58_decode(authority))

    def model(self, model_id):
        return self.find(b"model", sha256(model_id.encode()))

    def job(self, credit_account, job_id):
        return self.find(b"job", base58_decode(credit_account), job_id)

    def find(self, *seeds):
        if seeds not in self.known:
            self.known[seeds] = self.search(seeds)
        return self.known[seeds]

    def search(self, seeds):
        """The address of the seeds with the highest possible bump, by the ledger's rule."""
        for bump in range(255, -1, -1):
            address = sha256(b"".join([*seeds, bytes([bump]), self.id, b"ProgramDerivedAddress"]))
            if not is_on_curve(address):
                return base58_encode(address)
        raise VerifyError("No bump gives an address for these seeds.")


# ---- What keys sign

PROOF_PREFIX = b"svc-proof-v1"
RECEIPT_PREFIX = b"svc-delivery-v1"


def proof_message(program, proof):
    """What a worker proves about one attempt at a job (181 bytes)."""
    return b"".join(
        [
            PROOF_PREFIX,
            *(key_bytes(key) for key in (program, proof["job"], proof["worker"])),
            unsigned(proof["attempt"], 1),
            hash_bytes(proof["output_hash"]),
            unsigned(proof["prompt_tokens"], 4),
            unsigned(proof["completion_tokens"], 4),
            hash_bytes(proof["request_commitment"]),
        ]
    )


def receipt_message(program, job, output_hash):
    """What the settling key signs for the client (111 bytes)."""
    return RECEIPT_PREFIX + key_bytes(program) + key_bytes(job) + hash_bytes(output_hash)


def unsigned(value, size):
    if not 0 <= value < 256**size:
        raise ValueError(f"{value} is out of range for {size} bytes.")
    return value.to_bytes(size, "little")


def hash_bytes(value):
    if len(value) != 32:
        raise ValueError(f"A sha256 has 32 bytes, not {len(value)}.")
    return value


def key_bytes(key):
    return hash_bytes(base58_decode(key))


def format_receipt(signer, signature):
    return f"{signer}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}"


def parse_receipt(receipt):
    """Key and signature of a delivery receipt, or None when it is not exactly of its form."""
    signer, _, encoded = receipt.partition(".")
    try:
        signature = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4))
        is_whole = len(base58_decode(signer)) == 32 and len(signature) == 64
    except (VerifyError, ValueError):
        return None
    return (signer, signature) if is_whole and format_receipt(signer, signature) == receipt else None


def format_job_id(job_id):
    return f"job_{job_id.hex()}"


def parse_job_id(job_id):
    match = re.fullmatch(r"job_([0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15})", job_id)
    return bytes.fromhex(match.group(1)) if match else None


def verify_hashed(key, message, signature):
    """Proofs and receipts are signed over the sha256 of their message."""
    return verify_signature(key, sha256(message), signature)


P = 2**255 - 19
D = 37095705934669439343138083508754565189542113879843219016388785533085940283555
# The y of every point whose order divides eight. With such a key, one signature fits many messages.
SMALL_ORDER_YS = {
    0,
    1,
    P - 1,
    2707385501144840649318225287225658788936804267575313519463743609750303402022,
    55188659117513257062467267217118295137698188065244968500265048394206261417927,
}


def verify_signature(key, message, signature):
    """Whether the key signed the message, as the program judges it.

    OpenSSL takes some signatures that the program refuses. They are by points of small order, negative
    zero among them, or in an encoding that is not the one of its point.
    """
    public = base58_decode(key) if isinstance(key, str) else key
    if len(public) != 32 or len(signature) != 64:
        return False
    for point in (public, signature[:32]):
        y = int.from_bytes(point, "little") & (2**255 - 1)
        if y >= P or y in SMALL_ORDER_YS:
            return False
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
        return True
    except (InvalidSignature, ValueError):
        return False


def is_on_curve(point):
    """Whether the bytes are a point of ed25519, by the ledger's rule: x² = (y² - 1) / (dy² + 1)."""
    y = (int.from_bytes(point, "little") & (2**255 - 1)) % P
    # As good as the quotient, from which it differs by a square.
    return pow((y * y - 1) * (D * y * y + 1) % P, (P - 1) // 2, P) in (0, 1)


# ---- The question


def request_commitment(salt, request):
    """What a worker signs about the request that it answered (32 bytes)."""
    if len(salt) != 32:
        raise ValueError("A salt has 32 bytes.")
    return sha256(salt + sha256(canonical_json(request).encode("utf-8")))


def canonical_json(value):
    """JSON in the one form of RFC 8785. ValueError for what implementations read differently."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, float)):
        return canonical_number(value)
    if isinstance(value, str):
        return canonical_text(value)
    if isinstance(value, list):
        return f"[{','.join(map(canonical_json, value))}]"
    ordered = sorted(value.items(), key=lambda field: utf16_units(field[0]))
    return "{" + ",".join(f"{canonical_text(name)}:{canonical_json(held)}" for name, held in ordered) + "}"


def utf16_units(value):
    return value.encode("utf-16-be", "surrogatepass")


def canonical_text(value):
    if re.search("[\ud800-\udfff]", value):
        raise ValueError("A text has half of a character.")
    return json.dumps(value, ensure_ascii=False)


def canonical_number(value):
    """The shortest digits of a double, written as ECMAScript does."""
    number = float(value)
    if number - number != 0:
        raise ValueError("It is no number of JSON.")
    if number.is_integer():
        if abs(number) >= 2**53:
            raise ValueError("A whole number is beyond 2^53.")
        return str(int(number))
    mantissa, _, exponent = repr(abs(number)).partition("e")
    before, _, behind = mantissa.partition(".")
    digits = (before + behind).lstrip("0")
    # The value is 0.digits times ten to the power of point.
    point = len(before) + int(exponent or 0) - (len(before + behind) - len(digits))
    digits = digits.rstrip("0")
    sign = "-" if number < 0 else ""
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    tail = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{tail}e{point - 1:+d}"


def parse_json(data):
    """JSON as ECMAScript reads it: each number is a double."""

    def refuse(name):
        raise ValueError(f"{name} is no JSON.")

    source = data if isinstance(data, str) else data.decode("utf-8-sig")
    return json.loads(source, parse_int=float, parse_constant=refuse)


NULLABLE = ("temperature", "top_p", "frequency_penalty", "presence_penalty", "seed")
EMPTYABLE = (
    "top_k",
    "min_p",
    "repetition_penalty",
    "reasoning_effort",
    "logit_bias",
    "chat_template_kwargs",
)


def read_request(saved):
    """What a worker is given of a request's body as it was sent, but for the token limit."""
    body, _ = try_parse(body_of(decode_saved(saved)))
    messages, model = field_of(body, "messages"), field_of(body, "model")
    if not isinstance(messages, list) or not isinstance(model, str):
        raise VerifyError("It is no request: save the JSON body that was sent.")
    given = {field: field_of(body, field) for field in NULLABLE}
    given.update({field: unless_empty(without_prototype(field_of(body, field))) for field in EMPTYABLE})
    given["stop"] = stop_of(field_of(body, "stop"))
    given["response_format"] = format_of(field_of(body, "response_format"))
    request = {"model": model, "messages": [message_of(one) for one in messages]}
    request.update({field: value for field, value in given.items() if value is not None})
    try:
        canonical_json(request)
    except (ValueError, RecursionError) as error:
        raise VerifyError(f"The request has no canonical form. {error}") from error
    return request


def read_limits(saved):
    """The most tokens that a request wants, and the most credits; None where it does not say that."""
    body, _ = try_parse(body_of(decode_saved(saved)))
    tokens = field_of(body, "max_tokens")
    tokens = field_of(body, "max_completion_tokens") if tokens is None else tokens
    limits = tokens, field_of(body, "max_credits")
    return tuple(one if type(one) in (int, float) else None for one in limits)


def message_of(message):
    role = field_of(message, "role")
    content = text_of(field_of(message, "content"))
    if content is None:
        content = text_of(field_of(message, "refusal")) or ""
    return {"role": "system" if role == "developer" else str(role), "content": content}


def text_of(content):
    """A text, or the joined texts and refusals of its parts."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else None
    kinds = [("refusal" if field_of(part, "type") == "refusal" else "text", part) for part in content]
    return joined(str(field_of(part, kind) or "") for kind, part in kinds)


def joined(texts):
    """Halves of a character in two texts become one, as in ECMAScript."""
    return "".join(texts).encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def stop_of(stop):
    texts = [stop] if isinstance(stop, str) else stop
    return texts if isinstance(texts, list) and texts else None


def format_of(value):
    """Text is the form of every answer."""
    shape = unless_empty(without_prototype(value))
    if not isinstance(shape, dict):
        return shape
    if shape.get("type") == "text":
        return None
    schema = without_prototype(shape.get("json_schema"))
    if isinstance(schema, dict):
        if "schema" in schema:
            schema = {**schema, "schema": without_prototype(schema["schema"])}
        shape = {**shape, "json_schema": schema}
    return shape


def without_prototype(value):
    """The service drops a field of this name where it knows the object."""
    if not isinstance(value, dict):
        return value
    return {field: held for field, held in value.items() if field != "__proto__"}


def unless_empty(value):
    return None if isinstance(value, (list, dict)) and not value else value


def field_of(value, field):
    return value.get(field) if isinstance(value, dict) else None


# ---- A saved answer

SAVED_BYTES_MAX = 64 * 1024 * 1024
TRAILERS_MAX = 64 * 1024
DEPTH_MAX = 512
TOO_DEEP = f"It is nested deeper than {DEPTH_MAX} levels."
# What ECMAScript takes for white space.
SPACES = "\t\n\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))
CUT = "It ends before the answer does, so the text is not whole."


def read_answer(saved):
    """Reads an answer as it was saved: JSON, a stream's events, or the chunks that a client made of them.

    HTTP headers before it and trailers behind it are passed over.
    """
    body = body_of(decode_saved(saved))
    is_stream = body[:1] not in ("{", "[")
    values, is_cut = events_in(body) if is_stream else values_in(body)
    flat = [one for value in values for one in (value if isinstance(value, list) else [value])]
    parts = [one for one in flat if isinstance(one, dict)]
    job_id = job_id_in(parts)
    if any(isinstance(part.get("error"), dict) for part in parts):
        raise VerifyError("It is an error, not an answer.")
    if is_cut:
        raise VerifyError(CUT)
    answers = [part for part in parts if isinstance(part.get("choices"), list)]
    if not answers or any(
        isinstance(part.get("messages"), list) and "choices" not in part for part in parts
    ):
        raise VerifyError("It holds no answer of a chat completion, as JSON or as the events of a stream.")
    output = join_parts(answers, is_stream)
    if job_id is None:
        raise VerifyError("It names no job. Is it an answer of this service?")
    svc, usage = statement_in(answers), usage_in(answers)
    models = [one["model"] for one in answers if isinstance(one.get("model"), str)]
    stated = svc or {}
    return {
        "job_id": job_id,
        "text": output,
        "answer": svc and {**svc, **usage, **({"model": models[0]} if models else {})},
        "salt": stated.get("request_salt"),
        "receipt": stated.get("delivery_receipt"),
        "wallet": wallet_in(svc["verify_url"], job_id) if "verify_url" in stated else None,
    }


def decode_saved(saved):
    if len(saved) > SAVED_BYTES_MAX:
        raise VerifyError("It has more than 64 MiB.")
    if isinstance(saved, str):
        return saved[1:] if saved[:1] == "\ufeff" else saved
    # Shells of Windows write UTF-16, and its mark before it.
    encoding = "utf-16" if saved[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return saved.decode(encoding)
    except UnicodeDecodeError as error:
        raise VerifyError("It is no text in UTF-8: save the answer as it came.") from error


def body_of(saved):
    """What follows the headers, of which there are several behind a proxy, or an early status."""
    body = saved.lstrip(SPACES)
    while re.match(r"HTTP/[\d.]+ \d{3}", body, re.ASCII):
        end = re.search(r"\r?\n\r?\n", body)
        body = body[end.end() :].lstrip(SPACES) if end else ""
    return body


def try_parse(source):
    """The value and True, or None and False where it is not JSON."""
    try:
        value = parse_json(source)
    except RecursionError as error:
        raise VerifyError(TOO_DEEP) from error
    except ValueError:
        return None, False
    nested, depth = [value], 0
    while nested := [one for one in nested if isinstance(one, (list, dict))]:
        depth += 1
        if depth > DEPTH_MAX:
            raise VerifyError(TOO_DEEP)
        nested = [one for each in nested for one in (each.values() if isinstance(each, dict) else each)]
    return value, True


def values_in(body):
    """The JSON values of a body: one, or one behind the other, with trailers behind the last."""
    value, is_whole = try_parse(body)
    if is_whole:
        return [value], False
    values, at = [], 0
    while True:
        at += len(body[at:]) - len(body[at:].lstrip(" \t\r\n"))
        if body[at : at + 1] not in ("{", "["):
            break
        end = end_of_value(body, at)
        if end is None:
            return values, True
        value, is_whole = try_parse(body[at:end])
        if not is_whole:
            raise VerifyError(f"It is not JSON at character {at}.")
        values.append(value)
        at = end
    rest = body[at:]
    if at > 0 and len(rest.encode("utf-16-le", "surrogatepass")) > 2 * TRAILERS_MAX:
        raise VerifyError("It has more than 64 KiB behind the answer.")
    trailer = re.compile(r"([\w-]+:[^\r\n]*)?\r?", re.ASCII)
    if at == 0 or not all(map(trailer.fullmatch, rest.split("\n"))):
        raise VerifyError(f"It is not JSON at character {at}.")
    return values, False


def end_of_value(source, start):
    """Where the value ends that begins at `start`; None where the text ends before."""
    depth = 0
    for mark in re.compile(r'"(?:[^"\\]|\\.)*("?)|[{}\[\]]', re.DOTALL).finditer(source, start):
        if mark.group()[0] == '"':
            if not mark.group(1):
                return None
            continue
        depth += 1 if mark.group() in "{[" else -1
        if depth == 0:
            return mark.end()
    return None


def events_in(body):
    """The data of server-sent events. Comments, other fields and events of a name are passed over."""
    values, data, name, broken = [], [], "", None
    for line in [*re.split(r"\r\n|\n|\r", body), ""]:
        if line.startswith("data:"):
            data.append(line[6:] if line[5:6] == " " else line[5:])
        elif line == "event" or line.startswith("event:"):
            name = line[7:] if line[6:7] == " " else line[6:]
        elif line == "":
            is_read, name = name in ("", "message"), ""
            if not data or not is_read:
                data = []
                continue
            if broken is not None:
                raise VerifyError(f"Event {broken} is not JSON.")
            parsed = parse_event([one for one in data if one.strip() != "[DONE]"])
            data = []
            if parsed is None:
                broken = len(values) + 1
            else:
                values += parsed
    # Only the last one may be broken: the stream was cut within it.
    return values, broken is not None


def parse_event(lines):
    """The data of an event, in one line or several; of lines whose empty ones were lost, each is one."""
    if not lines:
        return []
    value, is_whole = try_parse("\n".join(lines))
    if is_whole:
        return [value]
    parsed = [try_parse(line) for line in lines]
    return [one for one, _ in parsed] if all(is_json for _, is_json in parsed) else None


def job_id_in(parts):
    found = []
    for part in parts:
        for named in (field_of(part.get("svc"), "job_id"), part.get("id")):
            job_id = re.sub("^chatcmpl-", "", named) if isinstance(named, str) else ""
            if parse_job_id(job_id) and job_id not in found:
                found.append(job_id)
    if len(found) > 1:
        raise VerifyError(f"It holds answers of several jobs, {found[0]} and {found[1]}: save one.")
    return found[0] if found else None


def join_parts(answers, is_stream):
    """The text of a plain answer, or of a stream's chunks in their order."""
    if any(len(answer["choices"]) > 1 for answer in answers):
        raise VerifyError("It holds several choices, and one alone is proven.")
    choices = [choice for answer in answers for choice in answer["choices"]]
    # In a type of its own, since False equals 0.
    indexes = [field_of(choice, "index") for choice in choices]
    if any(one is not None and (isinstance(one, bool) or one != 0) for one in indexes):
        raise VerifyError("It holds several choices, and one alone is proven.")
    messages = [choice for choice in choices if field_of(choice, "message") is not None]
    is_plain = bool(messages)
    if any(field_of(choice, "delta") is not None for choice in messages):
        raise VerifyError("It holds both a message and a delta.")
    if is_plain and is_stream:
        raise VerifyError("Its events hold a message for a delta.")
    if is_plain and len(answers) > 1:
        raise VerifyError("It holds several answers: save one.")
    if not any(isinstance(field_of(one, "finish_reason"), str) for one in choices):
        raise VerifyError(CUT)
    parts = [field_of(choice, "message" if is_plain else "delta") for choice in choices]
    for name in ("content", "reasoning_content"):
        if not all(isinstance(field_of(part, name), (str, type(None))) for part in parts):
            raise VerifyError(f"Its {name} is no text.")
    return joined(field_of(part, "content") or "" for part in parts)


def is_count(value):
    return isinstance(value, float) and value.is_integer() and 0 <= value < 2**53


def is_number(value):
    return isinstance(value, float)


def is_like(form):
    return lambda value: isinstance(value, str) and re.fullmatch(form, value, re.ASCII) is not None


ADDRESS = "[1-9A-HJ-NP-Za-km-z]{32,44}"
SIGNATURE = "[1-9A-HJ-NP-Za-km-z]{64,88}"
STATEMENT = {
    "job_id": is_like("job_[0-9a-f]{32}"),
    "worker": is_like(ADDRESS),
    "attempt": is_count,
    "credits_charged": is_count,
    "usdc_value": is_number,
    "output_hash": is_like("sha256:[0-9a-f]{64}"),
    "request_salt": is_like("[0-9a-f]{64}"),
    "delivery_receipt": is_like(r"[\w.-]{1,200}"),
    "escrow_tx": is_like(SIGNATURE),
    "settlement_tx": is_like(SIGNATURE),
    "verify_url": is_like(r"https?://[!-~]{1,2000}"),
    "truncated": is_like(r"\w{1,40}"),
}
USAGE = {"cost": is_number, "prompt_tokens": is_count, "completion_tokens": is_count}


def statement_in(answers):
    """What the last part with `svc` says: it comes with the finish reason."""
    return stated_in(answers, "svc", STATEMENT)


def usage_in(answers):
    """What the last part with `usage` says."""
    stated = stated_in(answers, "usage", USAGE) or {}
    return {f"usage.{field}": value for field, value in stated.items()}


def stated_in(answers, name, forms):
    found = [answer[name] for answer in answers if isinstance(answer.get(name), dict)]
    if not found:
        return None
    given = {field: found[-1][field] for field in forms if found[-1].get(field) is not None}
    for field, value in given.items():
        if not forms[field](value):
            raise VerifyError(f"Its {name}.{field} has another form.")
    return given


def wallet_in(verify_url, job_id):
    """The wallet behind the `#` of a link to Verify; nothing is asked at the link's host."""
    page, _, fragment = verify_url.partition("#")
    if not page.endswith(f"/{job_id}"):
        raise VerifyError(f"Its svc.verify_url is not of {job_id}.")
    query = re.sub(r"^\?", "", fragment.partition("#")[0])
    wallets = urllib.parse.parse_qs(query, keep_blank_values=True).get("wallet", [""])
    is_address = re.fullmatch(ADDRESS, wallets[0]) and len(base58_decode(wallets[0])) == 32
    return wallets[0] if is_address else None


# ---- The vectors


def run_vectors(path):
    """Runs all cases of a file as receipts/vectors.json. Prints what differs, and a count."""
    with open(path, encoding="utf-8") as file:
        vectors = json.load(file)
    differing = 0
    for case in vectors["cases"]:
        try:
            found = KINDS[case["kind"]](case, vectors)
        except (ValueError, VerifyError):
            found = {"refused": True}
        if found != case["expected"]:
            differing += 1
            print(f"DIFFERS: {case['kind']}: {case['name']}: {found}, not {case['expected']}")
    count = len(vectors["cases"])
    print(f"{count - differing} of {count} cases as expected.")
    return count > 0 and differing == 0


def run_job(case, vectors):
    shared, changes = vectors["nodes"][case["node"]], case.get("changes", {})
    snapshot = {**shared, **changes}
    for part in ("transactions", "accounts", "signatures"):
        snapshot[part] = {**shared[part], **changes.get(part, {})}

    def bytes_of(field):
        return case[field].encode() if field in case else None

    report = verify(
        SnapshotNode(snapshot),
        address=case.get("job"),
        response=bytes_of("answer"),
        request=bytes_of("request"),
        output=bytes_of("output"),
        card=bytes_of("card"),
        salt=case.get("salt"),
        receipt=case.get("receipt"),
        program=vectors["program_id"],
    )

    def named(verdict):
        return [check["name"] for check in report["checks"] if check["verdict"] == verdict]

    return {
        "result": conclude(report["checks"]),
        "failing": named("fails"),
        "not_checkable": named("not_checkable"),
    }


def run_canonical_json(case, _vectors):
    return {"canonical": canonical_json(parse_json(case["input"]["json"]))}


def run_commitment(case, _vectors):
    salt, request = bytes.fromhex(case["input"]["salt"]), parse_json(case["input"]["request"])
    return {"commitment": request_commitment(salt, request).hex()}


def run_request(case, _vectors):
    given = case["input"]
    request = {**read_request(given["request"]), "token_limit": given["token_limit"]}
    return {"commitment": request_commitment(bytes.fromhex(given["salt"]), request).hex()}


def run_answer(case, _vectors):
    answer = read_answer(case["input"]["saved"])
    return {
        "job_id": answer["job_id"],
        "wallet": answer["wallet"],
        "text": answer["text"],
        "request_salt": answer["salt"],
        "delivery_receipt": answer["receipt"],
    }


def run_job_id(case, vectors):
    job_id = parse_job_id(case["input"]["job_id"])
    if job_id is None:
        raise ValueError("It is no job id.")
    addresses = Addresses(vectors["program_id"])
    account = addresses.credit_account(case["input"]["wallet"])
    address = addresses.job(account, job_id)
    return {"bytes": job_id.hex(), "credit_account": account, "address": address}


def from_hex(values, *names):
    return {**values, **{name: bytes.fromhex(values[name]) for name in names}}


def signed_form(message):
    return {"message": message.hex(), "sha256": sha256(message).hex()}


def run_proof_message(case, vectors):
    proof = from_hex(case["input"], "output_hash", "request_commitment")
    return signed_form(proof_message(vectors["program_id"], proof))


def run_receipt_message(case, vectors):
    given = from_hex(case["input"], "output_hash")
    return signed_form(receipt_message(vectors["program_id"], given["job"], given["output_hash"]))


def run_receipt(case, _vectors):
    parts = parse_receipt(case["input"]["receipt"])
    if parts is None:
        raise ValueError("It is no receipt.")
    return {"signer": parts[0], "signature": parts[1].hex()}


def run_signature(case, _vectors):
    given = from_hex(case["input"], "message", "signature")
    return {"holds": verify_hashed(given["public_key"], given["message"], given["signature"])}


def run_event(case, _vectors):
    name, decoded = decode_event(bytes.fromhex(case["input"]["data"]))
    kinds = dict(layout_of(name))

    def shown(field, value):
        return str(value) if kinds[field] in ("u64", "i64") else shown_bytes(value)

    return {"name": name, "fields": {field: shown(field, value) for field, value in decoded.items()}}


def shown_bytes(value):
    return value.hex() if isinstance(value, bytes) else value


KINDS = {
    "job": run_job,
    "canonical_json": run_canonical_json,
    "commitment": run_commitment,
    "request": run_request,
    "answer": run_answer,
    "job_id": run_job_id,
    "proof_message": run_proof_message,
    "receipt_message": run_receipt_message,
    "receipt": run_receipt,
    "signature": run_signature,
    "event": run_event,
}


# ---- Primitives


def sha256(data):
    return hashlib.sha256(data).digest()


BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def base58_encode(data):
    value, encoded = int.from_bytes(data, "big"), ""
    while value:
        value, digit = divmod(value, 58)
        encoded = BASE58[digit] + encoded
    return "1" * (len(data) - len(data.lstrip(b"\0"))) + encoded


def base58_decode(encoded):
    value = 0
    for letter in encoded:
        digit = BASE58.find(letter)
        if digit < 0:
            raise VerifyError(f"{encoded} is not base58.")
        value = value * 58 + digit
    zeros = len(encoded) - len(encoded.lstrip("1"))
    return bytes(zeros) + value.to_bytes((value.bit_length() + 7) // 8, "big")


if __name__ == "__main__":
    sys.exit(main())
