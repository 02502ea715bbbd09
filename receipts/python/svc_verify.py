#!/usr/bin/env python3
"""Checks one job on the ledger, and what its client received, without the service.

    python3 svc_verify.py --rpc https://… --response answer.txt [--request request.json]
    python3 svc_verify.py --rpc https://… job_… --wallet …
    python3 svc_verify.py --vectors vectors.json

docs/receipt.md says what it computes, byte by byte.
It needs Python 3.9 and the package `cryptography`.
The exit code is 0 only if everything that applies holds.
"""

import argparse
import base64
import functools
import hashlib
import http.client
import itertools
import json
import operator
import re
import struct
import sys
import time
import unicodedata
import urllib.error
import urllib.parse
import urllib.request
from decimal import Decimal

try:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
except ImportError as _error:
    if __name__ != "__main__":
        raise
    sys.exit(f"error: {_error}. Install it: python3 -m pip install cryptography")

PROGRAM = "8XLFurbAHp1Zg8Tyg23WoYhyy3XaYf6N17EAv4mKc2ok"
HISTORY_MAX = 1000
BYTES_MAX = 8 * 1024 * 1024

def main(arguments=None):
    options = parse_arguments(arguments)
    try:
        if options.vectors:
            return 0 if run_vectors(options.vectors) else 1
        report, *others = verify_named(options)
    except (VerifyError, OSError, ValueError) as error:
        print(f"error: {one_line(str(error))}", file=sys.stderr)
        return 1
    if others:
        report["differences"] = [one for other in others for one in compare_nodes(report, other)]
    print(render_json(report) if options.json else render(report, options.all))
    return 0 if report["result"] == "holds" and not report.get("differences") else 1

def parse_arguments(arguments):
    about = "Checks one job on the ledger, without the service."
    parser = argparse.ArgumentParser(description=about)
    add = parser.add_argument
    add("job", nargs="?", help="a job id, a job's address, or the signature of a transaction of it")
    add("--rpc", action="append", help="a ledger's node, whose answers are checked; twice: two are")
    add("--program", default=PROGRAM, help="another deployment of the program")
    add("--wallet", help="the job's wallet: needed for the id of a closed job")
    add("--response", help="a saved answer: JSON or a stream, with or without its headers")
    add("--request", help="the body of its request, to compare what was asked")
    add("--salt", help="the answer's request_salt, where no --response has it")
    add("--answer-details", help="the answer's answer_details, where no --response has it")
    add("--output", help="the received text, to compare its hash")
    add("--receipt", help="the delivery receipt of the text")
    add("--card", help="the card of the job's model, to compare with what was pinned")
    add("--history-max", type=int, default=HISTORY_MAX, help="how far back the node is asked")
    add("--max-bytes", type=int, default=BYTES_MAX, help="the largest answer or request to read")
    add("--json", action="store_true", help="print JSON, with all checks")
    add("--all", action="store_true", help="show the checks that do not apply, too")
    add("--vectors", help="run the cases of this file")
    options = parser.parse_args(arguments)
    if not options.vectors and not options.rpc:
        parser.error("--rpc is needed: the address of a ledger's node")
    if not options.vectors and not options.job and not options.response:
        parser.error("name a job, or give a saved answer: --response")
    return options

def compare_nodes(report, other):
    """How the checks by two nodes differ, a sentence each."""
    differing = []
    for one, its in zip(report["checks"], other["checks"]):
        found, by_other = ({**check, "detail": ""} for check in (one, its))
        if found != by_other:
            verdicts = f"{one['verdict']} by the first node, {its['verdict']} by the second"
            differing.append(f"{one['name']}: {verdicts}, or it rests on other transactions.")
    return differing

def verify_named(options):
    """A report by each node."""
    named = vars(options)
    texts = ("job", "salt", "answer_details", "receipt", "wallet", "program", "history_max")
    texts += ("max_bytes",)
    given = {name: named[name] for name in texts}
    given["receipt"] = given["receipt"] and given["receipt"].strip()
    for name in ("response", "request", "output", "card"):
        given[name] = None if named[name] is None else read_file(named[name])
    return [verify(RpcNode(url), **given) for url in options.rpc]

def read_file(path):
    with sys.stdin.buffer if path == "-" else open(path, "rb") as file:
        return file.read()

class VerifyError(Exception):
    """A job could not be judged; the message says why."""


# ---- A whole verification

def verify(
    node, job=None, address=None, response=None, request=None, salt=None, output=None,
    receipt=None, card=None, wallet=None, program=PROGRAM, history_max=HISTORY_MAX,
    max_bytes=BYTES_MAX, answer_details=None,
):
    """Judges a job by a node's answers, and what its client received by the job.

    job is an id, an address or a signature, and address one that is a job's without doubt.
    response, request, output and card are bytes; the rest are texts as the answer has them.
    What is given beside a response takes the place of the response's own.
    """
    given = {"output": output, "receipt": receipt, "salt": salt, "answer_details": answer_details}
    asked = None if request is None else read_request(request, max_bytes)
    client, answered = {"answer": None, "details": None, "card": card, "request": asked}, None
    client["request_commitment"] = None
    if response is not None:
        read = read_answer(response, max_bytes)
        answer, answered = read["answer"], read["job_id"]
        stated = answer or {}
        # What has no proof has no statement.
        details = read["details"] if "output_hash" in stated else None
        commitment = stated.get("request_commitment")
        client.update(answer=answer, details=details, request_commitment=hex_hash(commitment))
        said = {**read, "output": None if read["output"] is None else encode_text(read["output"])}
        said["answer_details"] = stated.get("answer_details")
        given = {name: said[name] if one is None else one for name, one in given.items()}
        if job and parse_job_id(job) and job != answered:
            raise VerifyError(f"The saved answer is of {answered}, and you named {job}.")
        job, wallet = job or answered, wallet or read["wallet"]
    for name in ("salt", "answer_details"):
        given[name] = hex_hash(given[name])
    addresses = Addresses(program)
    record = gather(node, addresses, address or locate(node, addresses, job, wallet), history_max)
    if card is not None or request is not None:
        # A question is compared with the context window alone.
        record.model = gather_model(node, record, 0 if card is None else history_max)
    report = judge(record, {**client, **given})
    found = report["job"]["id"]
    if answered and found not in (None, answered):
        raise VerifyError(f"The saved answer is of {answered}, and you named {found}.")
    return report

def encode_text(value):
    """UTF-8, in which half of a character is replaced."""
    return re.sub("[\ud800-\udfff]", "\ufffd", value).encode()

def hex_hash(digits):
    if digits is None:
        return None
    if not re.fullmatch(HEX_HASH, digits):
        raise VerifyError("Salt and answer details have 64 hex digits, in lower case.")
    return bytes.fromhex(digits)

def judge(record, client):
    """Judges without any read: the same evidence gives the same checks."""
    record.client, answer = client, client["answer"]
    is_without_text = client["output"] == b"" and answer and "output_hash" not in answer
    if is_without_text and not record.named("JobSettled"):
        # An answer without text is compared where the job was charged.
        record.client = {**client, "output": None}
    if not record.events and record.account[0] == "none":
        raise VerifyError(f"The ledger's node knows no job at {record.job}.")
    checks = [check(record) for check in RULES]
    result, conclusion, _ = conclusion_of(checks)
    return {
        "result": result,
        "conclusion": conclusion,
        "program": record.addresses.program,
        "as_of": {"slot": record.slot, "unix_time": record.now},
        "job": summarize(record),
        "checks": checks,
        "not_proven": NOT_PROVEN,
    }

def conclude(checks):
    """Only `holds` if nothing failed, and nothing was left unchecked for want of evidence."""
    found = {check["verdict"] for check in checks}
    if "fails" in found:
        return "fails"
    return "not_checkable" if "not_checkable" in found or "holds" not in found else "holds"

def summarize(record):
    lock, given = (record.named("JobLocked") or [None])[0], record.last("JobAcknowledged")
    ended = record.last("DisputeResolved") or record.last("JobSettled")
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

# No rule binds these of an answer, nor any field that no rule names.
NOT_PROVEN = [
    "format_kept", "logprobs", "total_tokens",
    "prompt_tokens_details", "completion_tokens_details", "created", "system_fingerprint",
]

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
    "delivery.details": "How your answer ends, or what it holds beside its text, is not proven.",
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
    title, kept = CONCLUSIONS[of_job]
    if of_job == "holds":
        kept = "The node shows nothing that contradicts a rule."
    reasons = (one["detail"][:1].upper() + one["detail"][1:] for one in differing)
    titles = [title, *(GIVEN[one["name"]] for one in differing)]
    return "differs", " ".join(titles), " ".join([kept, *reasons])

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
    if job["status"] in ("failed", "refunded") and job["credits_charged"] == 0:
        title += " Nothing was charged."
    not_proven = f"Not proven: {', '.join(NOT_PROVEN)}."
    compared = report.get("differences")
    nodes = [] if compared is None else compared or ["The nodes show the same."]
    return "\n".join(map(one_line, [*lines, not_proven, f"{title} {sentence}", *nodes]))

def one_line(shown):
    """Without the characters that steer a terminal, which a node or an answer may say."""
    return re.sub("[\0-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]", " ", shown)

def render_json(report):
    """64-bit numbers as texts, as `svc verify --json` writes them."""

    def texts(part, *names):
        return {**part, **{name: str(part[name]) for name in names}}

    checks = [
        {**check, "evidence": [texts(place, "slot") for place in check["evidence"]]}
        for check in report["checks"]
    ]
    as_of = texts(report["as_of"], "slot", "unix_time")
    job = texts(report["job"], "credits_locked", "credits_charged")
    shown = {**report, "as_of": as_of, "job": job, "checks": checks}
    return json.dumps(shown, indent=2, ensure_ascii=False)


# ---- What became of a check

def finding(verdict):
    return lambda detail: (verdict, detail)

VERDICTS = ("holds", "fails", "not_checkable", "not_applicable")
holds, fails, not_checkable, not_applicable = map(finding, VERDICTS)

def compare(agreement, **pairs):
    """Compares what was found with what it must be, pair by pair."""
    differences = [
        f"{name} is {show(found)}, not {show(expected)}"
        for name, (found, expected) in pairs.items()
        if found != expected
    ]
    return fails("; ".join(differences) + ".") if differences else holds(agreement)

def show(value):
    return value.hex() if isinstance(value, bytes) else str(value)

RULES = []
ENDINGS = ("JobSettled", "JobFailed", "JobRefunded")

def rule(name, *needs, given=None):
    """A rule about the last event of each kind that it needs; without needs, about all events."""

    def register(judge_events):
        def check(record):
            transactions = []
            # `given` is what a client may give, and what the rule is about then.
            if given and record.client[given] is None:
                verdict, detail = not_applicable(f"No {given} was given.")
            elif missing := next((need for need in needs if not record.named(need)), None):
                verdict, detail = absence(missing, record)
                if verdict == "not_applicable" and name.startswith("delivery."):
                    verdict = "not_checkable"
            elif not record.events:
                verdict, detail = not_checkable("The node shows nothing that happened to the job.")
            else:
                found = [record.last(need) for need in needs]
                transactions = [event.transaction for event in found or record.events]
                verdict, detail = judge_events(record, *found)
            places = {one.signature: one.slot for one in transactions}
            evidence = [{"signature": one, "slot": slot} for one, slot in places.items()]
            return {"name": name, "verdict": verdict, "detail": detail, "evidence": evidence}

        RULES.append(check)
        return judge_events

    return register

def absence(missing, record):
    ended = missing in ENDINGS and any(step.name in ENDINGS for step in record.steps)
    if record.is_complete or ended:
        return not_applicable(f"The job has no {missing}.")
    return not_checkable(f"The node does not show all of the job's history, and no {missing}.")


# ---- The rules, in the order of a job's life

NODE_SAYS_WHO_SIGNED = "In a version that is not known here, only the node says who signed."
NOT_SHOWN = "In a version that is not known here, the node does not show the signed messages."
WORKER_NOT_SHOWN = "The node does not show every change of the worker that may count."
# Anybody can cause these, also a lying node with a key of its own: the sender proves nothing.
OPEN_TO_ANYBODY = ("JobProven", "JobRefunded", "DisputeExpired", "JobClosed")

@rule("history.signatures")
def history_signatures(record):
    transactions = {event.transaction.signature: event.transaction for event in record.events}
    unsigned = [signature for signature, one in transactions.items() if not one.is_signed()]
    if unsigned:
        return fails(f"Not what its signers signed: {', '.join(unsigned)}.")
    unknown = [event for event in record.events if event.transaction.message is None]
    if any(event.name not in OPEN_TO_ANYBODY for event in unknown):
        return not_checkable(NODE_SAYS_WHO_SIGNED)
    known = [one for one in transactions.values() if one.message is not None]
    return holds(f"All signers signed what is shown. Transactions: {len(known)}.")

@rule("history.authenticity")
def history_authenticity(record):
    known = {event["job_sequence"] for event in record.events}
    imitations = [one for each in record.transactions for one in lookalikes(each, record.job)]
    substitutes = [one for one in imitations if not record.is_complete and one[1] not in known]
    if substitutes:
        written = [f"{name} was written by {writer}" for name, _, writer in substitutes]
        return fails(f"{'; '.join(written)}, not by the program itself.")
    counts = f"Events: {len(record.events)}. Ignored imitations: {len(imitations)}."
    return holds(f"The program's event authority signed them. {counts}")

@rule("history.sequence")
def history_sequence(record):
    events = record.events
    misplaced = [
        one for one, before, fallen in zip(events, [None, *events], falls(events))
        if fallen or not follows(one, before)
    ]
    if misplaced:
        listed = ", ".join(f"{event.name} ({event['job_sequence']})" for event in misplaced)
        return fails(f"Out of place on the ledger: {listed}.")
    if not record.is_complete:
        reasons = sorted({reason for _, reason in record.unread})
        gap = "The node does not show every change of the job."
        return not_checkable(" ".join([gap, *reasons]))
    return holds(f"{', '.join(event.name for event in events)}; none is missing.")

NEVER_FALL = ("unix_time", "credit_sequence", "worker_sequence", "treasury_sequence")

def falls(events):
    """Of each event: whether it says less of something than the last one that has it."""
    last = {}
    for event in events:
        said = {name: event[name] for name in NEVER_FALL if name in event.data}
        yield any(amount < last.get(name, amount) for name, amount in said.items())
        last.update(said)

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

@rule("history.states")
def history_states(record):
    path = []
    for event in record.events:
        status = path[-1] if path else None
        is_second = event.name == "JobDisputed" and "disputed" in path
        if is_second or status not in STATES[event.name][0]:
            if not record.is_complete:
                gap = "What came between the events that the node shows is not known."
                return not_checkable(gap)
            return fails(f"{event.name} is not possible after {' → '.join(path) or 'nothing'}.")
        path.append(status_after(event, status))
    return holds(f"{' → '.join(path)}.")

WORST_FIRST = ("fails", "not_checkable", "holds")
# The calls of those whose role lets them, which no other rule looks at.
CALLS = {
    "JobAcknowledged": "job_acknowledge",
    "JobFailed": "job_fail",
    "JobDisputed": "job_dispute",
    "DisputeAmended": "job_dispute",
}

@rule("history.calls")
def history_calls(record):
    found = [judge_call(event, record) for event in record.events if event.name in CALLS]
    done = holds(f"Calls that have the values of their events: {len(found)}.")
    return min([done, *found], key=lambda one: WORST_FIRST.index(one[0]))

def judge_call(event, record):
    asked, accounts = call_of(event, (CALLS[event.name],), record.addresses.program)
    if asked is None:
        return no_call(event, f"asks for {event.name}")
    pairs = {name: (event[name], asked[name]) for name in asked if name in event.data}
    if event.name == "JobAcknowledged":
        pairs["the_worker"] = (event["worker"], accounts[4])
    if event.name == "JobDisputed":
        is_wallets = accounts[0] == event["wallet"]
        pairs["disputed_by_wallet"] = (event["disputed_by_wallet"], is_wallets)
    return compare("As it was asked for.", **pairs)

def no_call(event, purpose):
    if event.transaction.message is None:
        return not_checkable(NOT_SHOWN)
    return fails(f"No instruction of the transaction {purpose}.")

@rule("lock.address", "JobLocked")
def lock_address(record, lock):
    addresses, account = record.addresses, lock["credit_account"]
    bound = ("credit_account", "wallet", "job_id")
    others = [
        event.name for event in record.events
        if any(name in event.data and event[name] != lock[name] for name in bound)
    ]
    if others:
        return fails(f"Of another id, wallet or credit account: {', '.join(others)}.")
    return compare(
        "Job, credit account and model are where id, wallet and model put them.",
        the_job=(record.job, addresses.job(account, lock["job_id"])),
        the_credit_account=(account, addresses.credit_account(lock["wallet"])),
        the_model=(lock["model"], addresses.model(lock["model_id"])),
    )

@rule("lock.price", "JobLocked")
def lock_price(_record, lock):
    limit = lock["token_limit"]
    due = max(lock["credits_per_request"], price_of(lock, limit))
    agreement = f"{lock['model_id']} ({lock['tier']}), at most {limit} tokens: {due} credits."
    return compare(agreement, the_lock=(lock["locked_credits"], due))

# The program's own.
TIMES = {
    "job_timeout_seconds": 120,
    "dispute_window_seconds": 60,
    "arbitration_window_seconds": 86_400,
}

@rule("lock.terms", "JobLocked")
def lock_terms(record, lock):
    asked, accounts = call_of(lock, ("job_lock",), record.addresses.program)
    locked = lock["locked_credits"]
    if asked is None and lock.transaction.message is not None:
        return fails("No instruction of the transaction locks the job.")
    if asked and locked > asked["max_credits"]:
        return fails(f"{locked} credits were locked, and {asked['max_credits']} were signed.")
    pairs = {name: (lock[name], due) for name, due in TIMES.items()}
    if asked:
        payer, signer, gateway = accounts[:3]
        is_wallets, controller = signer == lock["wallet"], lock["controller"]
        is_gateways = controller == gateway and not is_wallets
        pairs.update({name: (lock[name], asked[name]) for name in ("job_id", "token_limit")})
        pairs.update(
            the_rent_payer=(lock["rent_payer"], payer),
            the_controller=(controller, gateway if is_gateways else signer),
            limit_day=(lock["limit_day"], 0 if is_wallets else lock["spent_day"]),
        )
    found = compare(f"{locked} credits were locked, of those that were signed.", **pairs)
    return found if asked or found[0] == "fails" else not_checkable(NOT_SHOWN)

def price_of(terms, tokens):
    """Credits for so many tokens, before the lock bounds them."""
    if tokens <= terms["long_completion_threshold_tokens"]:
        return terms["credits_per_request"]
    return -(-tokens * terms["credits_per_1k_tokens"] // 1000)

@rule("lock.balances", "JobLocked")
def lock_balances(record, lock):
    return judge_balances(record, lock, -lock["locked_credits"], lock["locked_credits"], lock)

@rule("model.card", "JobLocked", given="card")
def model_card(record, lock):
    try:
        card = DECODER.decode(record.client["card"].decode("utf-8-sig", "replace"))
        given = sha256(canonical_json(card).encode())
    except (ValueError, RecursionError) as error:
        return fails(f"The card has no canonical form. {error}")
    hashes = card_hashes_in_force(record.model, lock.transaction) if record.model else []
    if not hashes:
        gap = "The node does not show what the model pinned when the job was locked."
        return not_checkable(gap)
    if not any(map(any, hashes)):
        return not_checkable("The model pinned no card when the job was locked.")
    if given in hashes:
        return holds(f"{lock['model_id']} promised sha256:{given.hex()}; what ran is not shown.")
    pinned = " or ".join(one.hex() for one in hashes)
    return fails(f"The card's hash is sha256:{given.hex()}, and the pinned one sha256:{pinned}.")

def card_hashes_in_force(model, at):
    """What the model may have pinned at a transaction; nothing where a change is missing."""
    account, changes = model["account"], {one["model_sequence"]: one for one in model["records"]}
    hashes = []
    for sequence in range(account["sequence"], 0, -1):
        change = changes.get(sequence)
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
    listed = ", ".join(map(str, attempts))
    for before, event in zip(record.events, record.events[1:]):
        is_next = before["job_sequence"] == event["job_sequence"] - 1
        if event.name == "JobAcknowledged" and is_next:
            put_aside = before.data if before.name == "JobProven" else NO_PROOF
            if any(event[f"voided_{name}"] != put_aside[name] for name in NO_PROOF):
                return fails(f"Attempt {event['attempt']} put another proof aside than was there.")
    if all(one > before for one, before in zip(attempts, [0, *attempts])):
        return holds(f"Attempt {listed}.")
    return fails(f"The attempts do not grow: {listed}.")

@rule("work.assignment", "JobAcknowledged", "JobProven")
def work_assignment(record, _last, proven):
    # A later acknowledgement may have put the proof aside.
    at, given = proven["job_sequence"], None
    for event in record.named("JobAcknowledged"):
        given = event if event["job_sequence"] <= at else given
    # A JobCompleted may say both.
    distance = 0 if given and given.data is proven.data else 1
    if given is None or given["job_sequence"] != at - distance:
        return not_checkable("The node does not show what came right before the proof.")
    return compare(
        f"Proven by the worker of the last attempt, {proven['worker']}.",
        the_worker=(proven["worker"], given["worker"]),
        the_attempt=(proven["attempt"], given["attempt"]),
    )

@rule("proof.signature", "JobProven")
def proof_signature(record, proven):
    given, _ = call_of(proven, ("job_prove", "job_complete"), record.addresses.program)
    if given is None:
        return no_call(proven, "brings the signature of this proof")
    message, key = proof_message(record.addresses.program, proven), proven["proof_key"]
    if verify_hashed(key, message, given["signature"]):
        return holds(f"{key} signed the sha256 of the proof's {len(message)} bytes.")
    return fails(f"The signature is not {key}'s of this proof.")

@rule("proof.key", "JobProven")
def proof_key(record, proven):
    recorded, key = in_force(record, "proof_key", proven), proven["proof_key"]
    if not recorded:
        return not_checkable("The node does not show how the worker registered.")
    if key in recorded:
        return holds(f"{key} was the worker's proof key.")
    if may_be_unshown(record, "proof_key", key):
        return not_checkable(WORKER_NOT_SHOWN)
    return fails(f"The worker's proof key was {' or '.join(recorded)}, not {key}.")

def may_be_unshown(record, field, value):
    """Whether the node may leave out the change of the worker that set this value."""
    account = record.worker["account"]
    return record.worker["has_gaps"] or (account and account[field] == value)

@rule("proof.hash", "JobProven", "JobSettled")
def proof_hash(_record, proven, settled):
    names = ("output_hash", "worker", "prompt_tokens", "completion_tokens")
    pairs = {name: (settled[name], proven[name]) for name in names}
    return compare(f"sha256:{proven['output_hash'].hex()}", **pairs)

@rule("delivery.output", "JobProven", given="output")
def delivery_output(record, proven):
    text, due = record.client["output"], proven["output_hash"]
    if sha256(text) == due:
        return holds(f"The {len(text)} bytes of text have the proven sha256.")
    shown = text.decode("utf-8", "replace")
    difference = difference_of([shown], lambda texts: sha256(encode_text(texts[0])) == due)
    if difference:
        return fails(f"The text differs from the proven one only in this: {difference}.")
    return fails(f"the text's sha256 is {sha256(text).hex()}, not {due.hex()}.")

@rule("delivery.details", "JobProven", given="details")
def delivery_details(record, proven):
    found, client = answer_details(record.client["details"]), record.client
    asked, named = client["request_commitment"], client["answer_details"]
    if asked is None:
        return not_checkable("It is compared by the answer's svc.request_commitment.")
    return compare(
        "Finish reason, cut, reasoning and calls of tools give the proven statement.",
        the_details=(found, found if named is None else named),
        the_statement=(statement_of(asked, found), proven["statement"]),
    )

@rule("delivery.receipt", "JobProven", "JobSettled", given="receipt")
def delivery_receipt(record, proven, settled):
    parts, text = parse_receipt(record.client["receipt"]), record.client["output"]
    if parts is None:
        return fails("It is not spelled as a delivery receipt.")
    signer, signature = parts

    def is_for(output_hash, statement):
        message = receipt_message(record.addresses.program, settled["job"], output_hash, statement)
        return verify_hashed(signer, message, signature)

    # Anybody can sign anything with a key of his own.
    if signer != settled["settled_by"]:
        return fails(f"It is signed by {signer}, who did not settle this job: it is no evidence.")
    due = (settled["output_hash"], proven["statement"])
    if is_for(*due):
        return holds(f"{signer}, who settled, signed that the proven answer was delivered.")
    asked, said = record.client["request_commitment"], record.client["answer_details"]
    hashes = {due[0], due[0] if text is None else sha256(text)}
    statements = {due[1], statement_of(asked, said) if asked and said else due[1]}
    if any(is_for(*one) for one in itertools.product(hashes, statements)):
        return fails(f"{signer} signed that the given answer was delivered, not the proven one.")
    return fails(f"{signer} did not sign that the proven answer was delivered for this job.")

@rule("delivery.request", "JobLocked", "JobProven", given="request")
def delivery_request(record, lock, proven):
    request, salt = record.client["request"]["chat"], record.client["salt"]
    details = record.client["answer_details"]
    if salt is None or details is None:
        return not_checkable("The answer's svc.request_salt and svc.answer_details compare it.")
    limit, due = lock["token_limit"], proven["statement"]

    def statement_to(given):
        return statement_of(request_commitment(salt, {**given, "token_limit": limit}), details)

    def is_proven(given):
        try:
            return statement_to(given) == due
        except ValueError:
            return False  # A field that is not known may have no canonical form.

    def is_proven_by(texts):
        messages = [{**one, "content": text} for one, text in zip(request["messages"], texts)]
        return is_proven({**request, "messages": messages})

    others = record.client["request"]["others"]
    counted = [{}, *({name: value} for name, value in others.items()), others]
    if any(is_proven({**request, **more}) for more in counted):
        return judge_limit(record, lock) or holds(
            f"Salt and request, with at most {limit} tokens, give the proven statement."
        )
    if request["model"] != lock["model_id"]:
        return fails(f"The request names another model, and the job is for {lock['model_id']}.")
    difference = difference_of([one["content"] for one in request["messages"]], is_proven_by)
    if difference:
        return fails(f"The messages differ from the proven ones only in this: {difference}.")
    unknown = ", ".join(record.client["request"]["unknown"])
    if unknown:
        return not_checkable(f"Whether the worker was given this is not known here: {unknown}.")
    return fails(f"the statement is {statement_to(request).hex()}, not {due.hex()}.")

def judge_limit(record, lock):
    """None where the lock is within the ceiling, and has the limit that was asked for."""
    asked, limit, locked = record.client["request"], lock["token_limit"], lock["locked_credits"]
    most = asked["credits_max"]
    if most is not None and locked > most:
        return fails(f"The request may lock {most} credits, and the job locked {locked}.")
    wanted = free_token_limit(lock) if asked["tokens_max"] is None else asked["tokens_max"]
    if limit == wanted:
        return None
    differs = f"The request is for at most {wanted} tokens, and the job for {limit}"
    if limit > wanted:
        return fails(f"{differs}.")
    if not record.model:
        return not_checkable(f"{differs}. The node does not show the context window.")
    # It is less only where the context window leaves no more. No text has more tokens than bytes.
    size = len("".join(prompt_texts(asked["chat"])).encode())
    window = record.model["account"]["context_window_tokens"]
    if size + wanted > window and limit >= window - size:
        return None
    return fails(f"{differs}, though the context window leaves more.")

def prompt_texts(chat):
    """What the model reads: contents, and calls and tools as JSON."""
    calls = [one["tool_calls"] for one in chat["messages"] if "tool_calls" in one]
    as_json = map(canonical_json, [*calls, *([chat["tools"]] if "tools" in chat else [])])
    return [*(one["content"] for one in chat["messages"]), *as_json]

def free_token_limit(terms):
    """The limit of a request that names none: the most tokens for the price of one request."""
    rate, most = terms["credits_per_1k_tokens"], 2**32 - 1
    at_rate = min(terms["credits_per_request"] * 1000 // rate, most) if rate else most
    return max(at_rate, terms["long_completion_threshold_tokens"])

# An answer is cut off when its job has 15 s left. The ledger's Clock may be some seconds behind.
CUT_SECONDS_MAX = 30

# What no answer of a charged job leaves out.
CHARGED = ("worker", "attempt", "output_hash", "credits_charged")

@rule("delivery.answer", "JobLocked", given="answer")
def delivery_answer(record, lock):
    stated = record.client["answer"]
    proven, settled = record.last("JobProven"), record.last("JobSettled")
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
        recorded["usage.completion_tokens"] = charged_tokens(settled)
    if stated.get("truncated") == "deadline":
        left = proven and lock["unix_time"] + lock["job_timeout_seconds"] - proven["unix_time"]
        is_cut = proven and left <= CUT_SECONDS_MAX
        recorded["truncated"] = "deadline" if is_cut else f"of a proof with {left} seconds left"
    due = [field for field in recorded if field in stated or (settled and field in CHARGED)]
    pairs = {field: (stated.get(field, "missing"), recorded[field]) for field in due}
    return compare(f"The ledger records the same {', '.join(pairs)}.", **pairs)

def charged_tokens(settled):
    """The charge is for the lower of both counts."""
    return min(settled["completion_tokens"], settled["counted_tokens"])

def normalized(form, text):
    """Marks in a row are sorted in quadratic time, so that a small file would take minutes."""
    row = 0
    for letter in text:
        row = row + 1 if unicodedata.category(letter)[0] == "M" else 0
        if row > 30:
            return text
    return unicodedata.normalize(form, text)

COMBINED_LENGTH_MAX = 1024 * 1024
# Ways in which programs change a text that they keep: what differs, and the text before.
CHANGES = [
    ("a byte order mark", lambda text: text[1:] if text[:1] == "\ufeff" else text),
    ("line ends, CR LF for LF", lambda text: text.replace("\r\n", "\n")),
    ("line ends, LF for CR LF", lambda text: re.sub("\r?\n", "\r\n", text)),
    ("the Unicode normal form, which was NFC", lambda text: normalized("NFC", text)),
    ("the Unicode normal form, which was NFD", lambda text: normalized("NFD", text)),
    ("a newline at the end", lambda text: re.sub("\r?\n\\Z", "", text)),
    ("white space at the end", lambda text: text.rstrip(SPACES)),
    ("white space at the start", lambda text: text.lstrip(SPACES)),
]
for _space in ("\n", " ", "\n\n", "\r\n"):
    _missing = "white space that is missing at the end"
    CHANGES.append((_missing, lambda text, space=_space: text + space))

def difference_of(texts, is_proven):
    """How texts differ from the proven ones, where one such change, or two, is all."""
    tried = [([], texts)]
    # Of a long text two would take too long.
    for _round in range(1 if sum(map(len, texts)) > COMBINED_LENGTH_MAX else 2):
        following = []
        for names, before in tried:
            for name, undo in CHANGES:
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
    is_known = settled.transaction.message is not None
    if is_known and key not in settled.transaction.signers:
        # No key signs for a program's address: its program does, in a call of its own.
        outer = settled.outer_call()
        through = outer.program != program and key in outer.accounts
        if is_on_curve(base58_decode(key)) or not through:
            return fails(f"{key} did not sign the settlement.")
    asked, _ = call_of(settled, ("job_settle", "job_complete"), program)
    if asked is None and is_known:
        return fails("No instruction of the transaction settles the job.")
    pairs = {}
    for argument, value in (asked or {}).items():
        field = "output_hash" if argument == "delivered_hash" else argument
        if field != "signature":
            pairs[field] = (settled.data.get(field), value)
    found = compare(f"Settled by {key}.", **pairs)
    return found if is_known or found[0] == "fails" else not_checkable(NODE_SAYS_WHO_SIGNED)

@rule("settlement.charge", "JobLocked", "JobSettled")
def settlement_charge(_record, lock, settled):
    locked, tokens = lock["locked_credits"], charged_tokens(settled)
    due = min(price_of(lock, tokens), locked)
    return compare(
        f"{due} of {locked} locked credits for {tokens} tokens.",
        the_charge=(settled["charged_credits"], due),
        what_was_returned=(settled["returned_credits"], locked - due),
    )

BASE_UNITS_PER_CREDIT = 10_000

@rule("settlement.share", "JobLocked", "JobSettled")
def settlement_share(_record, lock, settled):
    total = settled["charged_credits"] * BASE_UNITS_PER_CREDIT
    due = treasurys_share(total, lock)
    return compare(
        f"Of {total} base units {due} to the treasury.",
        the_treasurys_share=(settled["treasury_base_units"], due),
        the_workers_share=(settled["worker_base_units"], total - due),
    )

def treasurys_share(amount, lock):
    return amount * lock["treasury_share_basis_points"] // 10_000

@rule("settlement.balances", "JobLocked", "JobSettled")
def settlement_balances(record, lock, settled):
    locked = lock["locked_credits"]
    return judge_balances(record, settled, locked - settled["charged_credits"], -locked, lock)

@rule("settlement.worker_payment", "JobSettled")
def settlement_worker_payment(record, settled):
    to_others, _ = paid_by_vault(settled, record)
    owed = settled["worker_claimable_base_units"], "claimable by the worker"
    payment = judge_payment(to_others, settled["worker_base_units"], settled["worker_paid"], *owed)
    payouts = in_force(record, "payout", settled)
    if payment[0] == "fails":
        return payment
    if not payouts:
        return not_checkable("The node does not show the worker's payout account.")
    for _, account, base_units in to_others:
        if account not in payouts:
            if may_be_unshown(record, "payout", account):
                return not_checkable(WORKER_NOT_SHOWN)
            return fails(f"{base_units} base units went to {account}, not to {', '.join(payouts)}.")
    return payment

@rule("settlement.treasury_payment", "JobSettled")
def settlement_treasury_payment(record, settled):
    _, paid = paid_by_vault(settled, record)
    owed = settled["treasury_unpaid_base_units"], "unpaid to the treasury"
    return judge_payment(paid, settled["treasury_base_units"], settled["treasury_paid"], *owed)

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
    paid = {True: [], False: []}
    for source, target, base_units in transfers_of(settled):
        if source == record.addresses.vault:
            paid[target == record.addresses.treasury_vault].append((source, target, base_units))
    return paid[False], paid[True]

@rule("settlement.tokens", "JobSettled")
def settlement_tokens(record, settled):
    calls = [one for call in settled.transaction.instructions for one in (call, *call.inner)]
    changes = {}
    for source, target, base_units in read_transfers(calls):
        changes[target] = changes.get(target, 0) + base_units
        changes[source] = changes.get(source, 0) - base_units
    to_others, to_treasury = paid_by_vault(settled, record)
    pairs = {}
    for account in sorted({account for one in to_others + to_treasury for account in one[:2]}):
        before, after = settled.transaction.tokens.get(account, (0, 0))
        pairs[account] = (after - before, changes[account])
    return compare("The balances changed as the transfers say.", **pairs)

def judge_return(record, lock, end):
    # The sender of a refund can move tokens of its own in the same transaction.
    for source, target, base_units in transfers_of(end):
        if source == record.addresses.vault:
            return fails(f"{base_units} base units were paid to {target}.")
    locked = lock["locked_credits"]
    due = (end["returned_credits"], locked)
    return compare(f"All {locked} locked credits, and no payment was made.", what_was_returned=due)

def judge_unlock(record, lock, end):
    return judge_balances(record, end, lock["locked_credits"], -lock["locked_credits"], lock)

for _group, _end in (("failure", "JobFailed"), ("refund", "JobRefunded")):
    rule(f"{_group}.returned", "JobLocked", _end)(judge_return)
    rule(f"{_group}.balances", "JobLocked", _end)(judge_unlock)

def judge_balances(record, event, available_change, locked_change, lock):
    """Compares a credit account after an event with what it held before."""
    sequence = event["credit_sequence"]
    before = balances_before(record.credit_events, event["credit_account"], sequence)
    if before is None:
        return not_checkable("The node does not show what the credit account held before.")
    available, locked, spent = before
    sums = [] if spent is None else [spent]
    if sums and lock["limit_day"] != 0:
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
    verdict, detail = until(moment, deadline)
    return holds(detail) if verdict == "fails" else fails(detail)

WORK, DISPUTE = "job_timeout_seconds", "dispute_window_seconds"
ARBITRATION = "arbitration_window_seconds"

def deadline_rule(name, is_met, window, *steps):
    """The last step is in time, or too late, by a window of the lock from the step before it."""

    @rule(f"deadline.{name}", "JobLocked", *steps)
    def judge_time(_record, lock, *found):
        start, last = [lock, *found][-2:]
        return is_met(last["unix_time"], start["unix_time"] + lock[window])

@rule("deadline.acknowledged", "JobLocked", "JobAcknowledged")
def deadline_acknowledged(record, lock, _last):
    times = [event["unix_time"] for event in record.named("JobAcknowledged")]
    return until(max(times), lock["unix_time"] + lock[WORK])

deadline_rule("proven", until, WORK, "JobProven")
deadline_rule("settled", until, WORK, "JobSettled")
deadline_rule("failed", until, WORK, "JobFailed")
deadline_rule("refunded", after, WORK, "JobRefunded")
deadline_rule("disputed", until, DISPUTE, "JobSettled", "JobDisputed")
deadline_rule("amended", until, ARBITRATION, "JobDisputed", "DisputeAmended")

@rule("deadline.resolved", "JobLocked", "JobSettled", "JobDisputed", "DisputeResolved")
def deadline_resolved(_record, lock, settled, disputed, resolved):
    left = settled["unix_time"] + lock[DISPUTE] - resolved["unix_time"]
    if left >= 0:
        return fails(f"The job could still be disputed for {left} s.")
    return until(resolved["unix_time"], disputed["unix_time"] + lock[ARBITRATION])

deadline_rule("expired", after, ARBITRATION, "JobDisputed", "DisputeExpired")

# Anybody can send an overdue refund or expiry, but it has to be sent.
GRACE_SECONDS = 60

@rule("deadline.open")
def deadline_open(record):
    status = status_of(record.events)
    if status in ("settled", "failed", "refunded"):
        return not_applicable(f"The job is {status}.")
    locks, disputes = record.named("JobLocked"), record.named("JobDisputed")
    if not locks or not record.is_complete:
        return not_checkable("What the job waits for is not known.")
    is_disputed = status == "disputed" and disputes
    start, window = (disputes[0], ARBITRATION) if is_disputed else (locks[0], WORK)
    deadline, now = start["unix_time"] + locks[0][window], record.now
    if now <= deadline + GRACE_SECONDS:
        return holds(f"The job is {status}; its deadline is at {deadline}, and now is {now}.")
    return fails(f"The job is {status}, and {now - deadline} s overdue.")

@rule("dispute.opened", "JobLocked", "JobSettled", "JobDisputed")
def dispute_opened(_record, lock, settled, disputed):
    charged, repayable = disputed["charged_credits"], disputed["repayable_credits"]
    if disputed["output_hash"] == disputed["client_hash"]:
        return fails("The client's hash is the proven one.")
    exposed = repayable * BASE_UNITS_PER_CREDIT
    if disputed["disputed_exposure_base_units"] < exposed:
        return fails(f"The exposure does not cover {exposed} base units.")
    due = charged if lock["vouched"] else treasurys_share(charged, lock)
    ends_at = disputed["unix_time"] + lock[ARBITRATION]
    return compare(
        f"{repayable} of {charged} credits can be repaid.",
        the_disputed_charge=(charged, settled["charged_credits"]),
        what_can_be_repaid=(repayable, due),
        the_disputed_hash=(disputed["output_hash"], settled["output_hash"]),
        the_disputed_worker=(disputed["worker"], settled["worker"]),
        the_end_of_arbitration=(disputed["arbitration_ends_at"], ends_at),
    )

@rule("dispute.amended", "JobLocked", "JobDisputed", "DisputeAmended")
def dispute_amended(_record, lock, disputed, amended):
    if disputed["disputed_by_wallet"]:
        return fails("The wallet itself had disputed the job.")
    agreement = f"{lock['wallet']} put its own hash in place of its controller's."
    found = compare(
        agreement,
        the_proven_hash=(amended["output_hash"], disputed["output_hash"]),
        the_disputed_worker=(amended["worker"], disputed["worker"]),
    )
    if found[0] == "fails":
        return found
    if amended.transaction.message is None:
        return not_checkable(NODE_SAYS_WHO_SIGNED)
    if lock["wallet"] not in amended.transaction.signers:
        return not_checkable("A program signed for the wallet, in a call that no list shows.")
    return found

@rule("dispute.evidence", "JobProven", "JobSettled", "DisputeResolved")
def dispute_evidence(record, proven, settled, resolved):
    program, verdict = record.addresses.program, resolved["verdict"]
    given, _ = call_of(resolved, ("dispute_resolve",), program)
    if given is None:
        return no_call(resolved, "gives the verdict")
    if given["verdict"] != verdict:
        return fails(f"The verdict that was given is {given['verdict']}.")
    if verdict == "rejected":
        due = (resolved["evidence_hash"], NO_HASH)
        return compare("A rejection needs no evidence.", the_hash_of_no_evidence=due)
    key, recorded_signature = given["key"], given["recorded_signature"]
    recorded = {**proven.data, "statement": given["recorded_statement"]}
    if verdict == "upheld_worker":
        # Both proofs, as the program puts them together: the recorded one, then the other.
        names = ("output_hash", "prompt_tokens", "completion_tokens", "statement")
        other = {**recorded, **{name: given[name] for name in names}}
        messages = [proof_message(program, recorded), proof_message(program, other)]
        signed = [(key, recorded_signature), (key, given["signature"])]
    else:
        delivered = (given["output_hash"], given["statement"])
        messages = [receipt_message(program, settled["job"], *delivered)]
        signed = [(key, given["signature"])]
        if delivered[0] == settled["output_hash"]:
            # The recorded proof shows that its statement is another one.
            messages.append(proof_message(program, recorded))
            signed.append((proven["proof_key"], recorded_signature))
    for (signer, signature), message in zip(signed, messages):
        if not verify_hashed(signer, message, signature):
            return fails(f"A signature is not {signer}'s.")
    if sha256(b"".join(messages)) != resolved["evidence_hash"]:
        return fails("The hash is not that of the messages.")
    if verdict == "upheld_worker":
        return judge_proofs(record, key, messages, proven)
    return judge_wrong_receipt(key, given, settled, proven)

def judge_proofs(record, key, messages, proven):
    if messages[0] == messages[1]:
        return fails("Both messages are the same proof.")
    keys = in_force(record, "proof_key", proven)
    # proof.key judges whether the proof was by the worker's key.
    if key in (proven["proof_key"], *keys):
        return holds(f"{key} signed two different proofs of attempt {proven['attempt']}.")
    if not keys or record.worker["has_gaps"]:
        return not_checkable(WORKER_NOT_SHOWN)
    return fails(f"{key} was not the worker's proof key.")

def judge_wrong_receipt(key, given, settled, proven):
    if given["output_hash"] == settled["output_hash"]:
        if given["recorded_statement"] != proven["statement"]:
            return fails("The proof beside the receipt is not the recorded one.")
        if given["statement"] == proven["statement"]:
            return fails("The receipt names the proven text and statement.")
    if key == settled["settled_by"]:
        return holds(f"{key}, who settled, signed that another answer was delivered.")
    unknown = "whether it signed for the controller is not kept"
    return not_checkable(f"{key} did not settle the job: {unknown}.")

@rule("dispute.resolved", "JobLocked", "JobDisputed", "DisputeResolved")
def dispute_resolved(_record, lock, disputed, resolved):
    outcome, charged = resolved["verdict"], disputed["charged_credits"]
    repaid, slashed = resolved["repaid_credits"], resolved["slashed_tokens"]
    is_borne = outcome != "upheld_worker" or slashed == lock["slash_tokens"]
    upheld = disputed["repayable_credits"] if is_borne else treasurys_share(charged, lock)
    slash_max = lock["slash_tokens"] if outcome == "upheld_worker" else 0
    if slashed > slash_max:
        return fails(f"{slashed} tokens were slashed, and {slash_max} may be.")
    if resolved["owed_credits"] < repaid:
        return fails(f"Of {repaid} repaid credits the treasury owes {resolved['owed_credits']}.")
    if slashed < slash_max and resolved["stake_tokens"] + resolved["unstaking_tokens"] > 0:
        return fails(f"{slashed} of {slash_max} tokens were slashed, though some are left.")
    owed_base_units = resolved["owed_credits"] * BASE_UNITS_PER_CREDIT
    if resolved["slashed_stake_tokens"] < slashed or resolved["owed_base_units"] < owed_base_units:
        return fails("The treasury owes or holds less than this verdict adds.")
    return compare(
        f"{outcome}: {repaid} credits to repay, {slashed} tokens slashed.",
        the_disputed_worker=(resolved["worker"], disputed["worker"]),
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

@rule("account.state")
def account_state(record):
    kind, found = record.account
    events = record.events
    if kind in ("foreign", "unreadable"):
        return fails(f"The account belongs to {found}." if kind == "foreign" else found)
    if kind == "none" and record.named("JobClosed"):
        return not_applicable("The account is closed.")
    if kind == "none":
        return not_checkable("The node shows neither the account nor what closed it.")
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

NO_KEY, NO_HASH = "1" * 32, bytes(32)
# What an acknowledgement says that puts no proof aside.
NO_PROOF = {"worker": NO_KEY, "attempt": 0, "output_hash": NO_HASH}
# The program measures what the timeout bounds in 16 bits.
SECONDS_MAX = 0xFFFF
PROOF = ("output_hash", "prompt_tokens", "completion_tokens")
# A new attempt: a proof of the one before counts no more.
UNPROVEN = {**dict.fromkeys(PROOF, 0), "output_hash": NO_HASH, "proven_after_seconds": 0}
# What a step leaves in the account: fields of its own, others, and when it came.
LEFT_BY = {
    "JobAcknowledged": (("worker", "attempt"), UNPROVEN, "acknowledged_after_seconds"),
    "JobProven": (PROOF, {}, "proven_after_seconds"),
    "JobSettled": (("charged_credits", "counted_tokens", "settled_by"), {}, "ended_after_seconds"),
    "JobFailed": (("reason",), {}, "ended_after_seconds"),
    "JobRefunded": ((), {}, "ended_after_seconds"),
    "JobDisputed": (("client_hash", "disputed_by_wallet"), {}, "disputed_after_seconds"),
    "DisputeAmended": (("client_hash",), {"disputed_by_wallet": True}, None),
    "DisputeResolved": (("charged_credits", "verdict"), {}, "resolved_after_seconds"),
    "DisputeExpired": ((), {"outcome": "expired"}, "resolved_after_seconds"),
}
RENAMED = {"reason": "failure_reason", "verdict": "outcome"}

def expected_account(events):
    """The account that a job's events, in their order, leave behind."""
    lock, *later = events
    empty = {"bool": False, "pubkey": NO_KEY, "bytes32": NO_HASH}
    account = {field: empty.get(kind, 0) for field, kind in LAYOUTS["Job"]}
    account.update({field: value for field, value in lock.data.items() if field in account})
    account.update(version=ACCOUNT_VERSION, bump=255, locked_at=lock["unix_time"])
    account.update(outcome="none", failure_reason="none")
    for event in later:
        steps = [event.name]
        if event.name == "JobCompleted":
            is_recorded = all(account[field] == event[field] for field in ("attempt", "worker"))
            steps = ["JobAcknowledged", "JobProven", "JobSettled"][is_recorded:]
        for step in steps:
            account.update(change_of(step, event, account["locked_at"]))
    account.update(sequence=len(events), status=status_of(events))
    return account

def change_of(step, event, locked_at):
    copied, others, time_field = LEFT_BY.get(step, ((), {}, None))
    # The ledger's clock may be set back a little: then no time has passed.
    seconds = max(event["unix_time"] - locked_at, 0)
    if step in ("JobAcknowledged", "JobProven"):
        seconds = min(seconds, SECONDS_MAX)
    own = {RENAMED.get(field, field): event[field] for field in copied}
    return {**own, **others, **({time_field: seconds} if time_field else {})}

@rule("account.closed", "JobLocked", "JobClosed")
def account_closed(record, lock, closed):
    kind, found = record.account
    is_past = kind == "job" and found["sequence"] < closed["job_sequence"]
    if kind != "none" and not is_past:
        return fails("There is an account at the address again.")
    payer, rent, transaction = closed["rent_payer"], closed["rent_lamports"], closed.transaction
    ends = [event for event in transaction.events if event.name == "JobClosed"]
    due = sum(event["rent_lamports"] for event in ends if event["rent_payer"] == payer)
    if transaction.signers[:1] == [payer]:
        due -= transaction.fee
    before, after_it = transaction.lamports.get(payer, (0, 0))
    left = transaction.lamports.get(record.job, (0, 0))[0]
    # The sender can add lamports to both accounts, but take them from neither.
    if left > rent:
        return fails(f"The account had {left} lamports, and {rent} came back.")
    if payer != lock["rent_payer"]:
        return fails(f"The rent payer is {payer}, not {lock['rent_payer']}.")
    if after_it - before < due:
        found = f"The payer's lamports changed by {after_it - before}, not by {due}"
        # For a program's address its program signs, in a call that no list of signers shows.
        if payer in transaction.signers or not is_on_curve(base58_decode(payer)):
            return not_checkable(f"{found}: it may have signed for some that it spent.")
        return fails(f"{found}.")
    if is_past:
        return not_checkable(OLDER_ACCOUNT)
    return holds(f"{rent} lamports of rent went back to {payer}.")


# ---- A job's record: its events, picked out of the evidence

RUNNING = ("pending", "processing", "settling")
# The states in which an event is possible, and the one after it; None for the lock before all.
STATES = {
    "JobLocked": ((None,), "pending"),
    "JobAcknowledged": (RUNNING, "processing"),
    "JobProven": (("processing",), "settling"),
    "JobSettled": (("settling",), "settled"),
    "JobCompleted": (("pending", "processing"), "settled"),
    "JobFailed": (RUNNING, "failed"),
    "JobRefunded": (RUNNING, "refunded"),
    "JobDisputed": (("settled",), "disputed"),
    "DisputeAmended": (("disputed",), "disputed"),
    "DisputeResolved": (("disputed",), "refunded"),
    "DisputeExpired": (("disputed",), "settled"),
    # A closed job keeps its last state.
    "JobClosed": (("settled", "failed", "refunded"), None),
}

def status_after(event, status):
    if event.name == "DisputeResolved" and event["verdict"] == "rejected":
        return "settled"
    return STATES[event.name][1] or status or "pending"

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

    def outer_call(self):
        """The instruction within which it was emitted."""
        return self.transaction.instructions[self.outer]

    def renamed(self, name):
        return Event(name, self.data, self.transaction, self.outer, self.inner)

class Record:
    """What the rules judge: what the node shows of a job, and what the client gave."""

    def __init__(self, addresses, job, account, transactions):
        self.addresses, self.job, self.account = addresses, job, account
        self.transactions, self.model = transactions, None
        self.events = job_events(transactions, job)
        self.steps = steps_of(self.events)
        self.is_complete = is_complete(self.events, account)

    def named(self, name):
        return [step for step in self.steps if step.name == name]

    def last(self, name):
        return (self.named(name) or [None])[-1]

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
    is_closed = bool(events) and events[-1].name == "JobClosed"
    is_end_known = is_closed or (kind == "job" and found["sequence"] == len(events))
    return bool(events) and is_end_known and is_contiguous(events)

def in_force(record, field, event):
    """The worker's key or payout at a transaction: by the last record before it, and its slot's."""
    worker, at = event["worker"], event.transaction
    own = [
        one for one in record.worker["records"]
        if one["worker"] == worker and record.addresses.worker(one["authority"]) == worker
    ]
    found = [one for one in own if is_before(one.transaction, at)][-1:]
    during = [one for one in own if is_beside(one.transaction, at)]
    if found or any(one.name == "WorkerRegistered" for one in during):
        found += during
    return [one[field] for one in found]

def is_before(one, other):
    if one.slot != other.slot:
        return one.slot < other.slot
    # Not every node gives the order within a slot.
    return None not in (one.index, other.index) and one.index < other.index

def is_beside(one, other):
    return one.slot == other.slot and not is_before(one, other) and not is_before(other, one)

def credit_sequence(event, account):
    data = event.data
    if "credit_sequence" in data and data["credit_account"] == account:
        return data["credit_sequence"]
    return data["claimant_sequence"] if data.get("claimant") == account else None

def balances_before(events, account, sequence):
    """Walks back without a gap until both balances are known; None where the events end."""
    by_sequence = {credit_sequence(event, account): event for event in events}
    known = {}
    for at in range(sequence - 1, 0, -1):
        if at not in by_sequence:
            return None
        known = {**stated_balances(by_sequence[at]), **known}
        if "available" in known and "locked" in known:
            return known["available"], known["locked"], known.get("spent")
    return None

def stated_balances(event):
    if event.name == "CreditOpened":
        return {"available": 0, "locked": 0, "spent": 0}
    stated = {
        "available": event.data.get("available_credits"),
        "locked": event.data.get("account_locked_credits", event.data.get("locked_credits")),
        "spent": event.data.get("spent_today_credits"),
    }
    return {part: amount for part, amount in stated.items() if amount is not None}

CALL_JOB_AT = {
    "job_lock": 6, "job_acknowledge": 3, "job_prove": 0, "job_settle": 3, "job_complete": 3,
    "job_fail": 2, "job_dispute": 3, "dispute_resolve": 3,
}

def call_of(event, names, program):
    """Arguments and accounts of an event's call: the last one about its job before it."""
    outer = event.outer_call()
    for call in reversed([outer, *outer.inner[: event.inner]]):
        for name in names:
            at = CALL_JOB_AT[name]
            is_about = call.program == program and call.accounts[at : at + 1] == [event["job"]]
            if not is_about or call.data[:8] != discriminator("global", name):
                continue
            try:
                return decode_struct(name, call.data[8:]), [*call.accounts, None]
            except VerifyError:
                continue
    return None, []

TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
# Where the account stands that gets the tokens, by the first byte of the data.
TARGET_AT = {3: 1, 12: 2}

def transfers_of(event):
    """Transfers by the instruction that emitted an event, since the event before it."""
    own = [one.inner for one in event.transaction.events if one.outer == event.outer]
    start = max((inner + 1 for inner in own if inner < event.inner), default=0)
    return read_transfers(event.outer_call().inner[start : event.inner])

def read_transfers(calls):
    """From, to and base units of what the SPL Token program moved."""
    found = []
    for call in calls:
        target_at = TARGET_AT.get(call.data[0]) if call.data else None
        if call.program != TOKEN_PROGRAM or target_at is None:
            continue
        if len(call.data) < 9:
            raise VerifyError("A token transfer has no amount.")
        accounts = [*call.accounts, "", "", ""]
        amount = struct.unpack_from("<Q", call.data, 1)[0]
        found.append((accounts[0], accounts[target_at], amount))
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

PAGE = 1000
ROUNDS_MAX = 5
COMMITMENT = {"commitment": "confirmed"}
CLOCK = "SysvarC1ock11111111111111111111111111111111"
SYSTEM_PROGRAM = "1" * 32

def locate(node, addresses, named, wallet=None):
    """The address of a job by its id, its address, or the signature of a transaction of it."""
    job_id = parse_job_id(named)
    if job_id and wallet:
        return addresses.job(addresses.credit_account(wallet), job_id)
    if job_id:
        return locate_by_id(node, addresses, job_id)
    try:
        decoded = base58_decode(named)
    except VerifyError:
        decoded = b""
    if len(decoded) == 64:
        return locate_by_signature(node, addresses, named, wallet)
    if len(decoded) != 32:
        kinds = "neither a job id, nor an address, nor a transaction's signature"
        raise VerifyError(f"{named} is {kinds}.")
    if is_on_curve(decoded):
        reason = "It is the address of a key pair."
    else:
        (kind, found), _ = read_job_account(node, addresses, named)
        reason = {"foreign": f"The account belongs to {found}.", "unreadable": found}.get(kind)
    if reason:
        raise VerifyError(f"There is no job at {named}. {reason}")
    return named

def locate_by_id(node, addresses, job_id):
    wanted = ((0, discriminator("account", "Job")), (offset_in("Job", "job_id"), job_id))
    filters = [{"memcmp": {"offset": at, "bytes": base58_encode(one)}} for at, one in wanted]
    options = {"filters": filters, "dataSlice": {"offset": 0, "length": 0}}
    options.update(COMMITMENT, encoding="base64")
    found = node.ask("getProgramAccounts", [addresses.program, options])
    keys = [text(fields(one).get("pubkey")) for one in items(found)]
    if not keys:
        closed = "If the job is closed, name its wallet: --wallet."
        raise VerifyError(f"No account has this job id. {closed}")
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

def gather(node, addresses, job, history_max):
    """Asks a node for everything about one job, and judges nothing of it."""
    record = read_one_moment(node, addresses, job)
    record.credit_events = gather_credit_events(node, record, history_max)
    record.worker = gather_worker_records(node, record, history_max)
    record.now = read_clock(node)
    return record

def read_one_moment(node, addresses, job):
    """The account with what left it so: between two readings something may happen."""
    for round_ in range(ROUNDS_MAX):
        if round_ > 0:
            time.sleep(node.round_seconds)
        transactions, unread = [], []
        for transaction, failure in read_history(node, addresses, job):
            if transaction is None:
                unread.append(failure)
            elif job_events([transaction], job) or lookalikes(transaction, job):
                transactions.insert(0, transaction)
        account, slot = read_job_account(node, addresses, job)
        record = Record(addresses, job, account, transactions)
        record.slot, record.unread = slot, unread
        if is_one_moment(account, record.events[-1:]):
            break
    return record

def is_one_moment(account, newest):
    kind, found = account
    if kind == "job":
        return [event["job_sequence"] for event in newest] == [found["sequence"]]
    return kind != "none" or not newest or newest[0].name == "JobClosed"

def gather_credit_events(node, record, history_max):
    """Events of the job's credit account, with those before that say what it held."""
    known = [event for one in record.transactions for event in one.events]
    own = [event for event in known if event.data.get("job") == record.job]
    account = next((event["credit_account"] for event in own if event.name == "JobLocked"), None)
    if account is None:
        return []
    for event in own:
        if "account_locked_credits" not in event.data:
            continue
        sequence, changes = event["credit_sequence"], 0
        if balances_before(known, account, sequence) is not None:
            continue
        before = event.transaction.signature
        for earlier, _ in read_history(node, record.addresses, account, before=before):
            made = earlier.events if earlier else []
            if all(credit_sequence(one, account) is None for one in made):
                continue
            known += made
            changes += 1
            if balances_before(known, account, sequence) is not None or changes == history_max:
                break
    return known

def gather_worker_records(node, record, history_max):
    """How the ledger recorded the keys of the job's worker, from its authority's transactions."""
    found, signed = {"records": [], "has_gaps": False, "account": None}, 0
    proofs = [step for step in record.steps if step.name in ("JobProven", "JobSettled")]
    worker = proofs[-1]["worker"] if proofs else None
    account = worker and read_program_account(node, record.addresses, "Worker", worker)
    if not account:
        return found
    found["account"], authority = account, account["authority"]
    # A proof by another worker was put aside.
    first = next(one.transaction.slot for one in proofs if one["worker"] == worker)
    last = proofs[-1].transaction.slot
    for transaction, _ in read_history(node, record.addresses, authority, slot_max=last):
        if transaction is None:
            found["has_gaps"] = True
            continue
        made = transaction.named(("WorkerRegistered", "WorkerUpdated"), worker=worker)
        # Anybody can name the authority: what it did not sign does not count.
        if authority not in transaction.signers and not made:
            continue
        signed += 1
        found["records"] = made + found["records"]
        if any(one.transaction.slot < first for one in made) or signed == history_max:
            break
    return found

def gather_model(node, record, history_max):
    """The account of the job's model, and its changes from now back to the last before the lock."""
    addresses, lock = record.addresses, (record.named("JobLocked") or [None])[0]
    account = lock and read_program_account(node, addresses, "Model", lock["model"])
    model, signed = account and {"account": account, "records": []}, 0
    if not model or history_max == 0:
        return model
    config = read_program_account(node, addresses, "Config", addresses.find(b"config"))
    if not config:
        return None
    if card_hashes_in_force(model, lock.transaction):
        return model
    # The program's authority alone can make them.
    for transaction, _ in read_history(node, addresses, config["authority"]):
        if transaction is None:
            continue
        names = ("ModelUpserted", "ModelRetired")
        model["records"] += transaction.named(names, model=lock["model"])
        signed += config["authority"] in transaction.signers
        if card_hashes_in_force(model, lock.transaction) or signed == history_max:
            break
    return model

def read_history(node, addresses, address, before=None, slot_max=None):
    """What mentioned an address, newest first; failed transactions changed nothing."""
    first_page = None
    while True:
        options = {**COMMITMENT, "limit": PAGE, **({"before": before} if before else {})}
        rows = items(node.ask("getSignaturesForAddress", [address, options]))
        page = sorted_in_slots(map(fields, rows))
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

def index_in(found):
    """The position in its slot's block; None where the node does not say it."""
    index = found.get("transactionIndex")
    return None if index is None else whole(index)

def sorted_in_slots(rows):
    """Newest first within each slot; the order of the slots is the node's."""
    read = [
        (text(row.get("signature")), whole(row.get("slot")), row.get("err"), index_in(row) or 0)
        for row in rows
    ]
    runs = itertools.groupby(read, key=lambda row: row[1])
    return [row for _, run in runs for row in sorted(run, key=lambda one: -one[3])]

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
    """What lies at a job's address: its kind and more of it, and as of which slot."""
    account, slot = read_account(node, job)
    # After the closing anybody can send lamports there.
    if account is None or (account["owner"] == SYSTEM_PROGRAM and not account["data"]):
        return ("none", None), slot
    if account["owner"] != addresses.program:
        return ("foreign", account["owner"]), slot
    try:
        return ("job", decode_account("Job", account["data"])), slot
    except VerifyError as error:
        return ("unreadable", str(error)), slot

def read_program_account(node, addresses, name, address):
    account, _ = read_account(node, address)
    if account is None or account["owner"] != addresses.program:
        return None
    return decode_account(name, account["data"])

class UnknownForm(VerifyError):
    """A transaction of a version whose form is not known, which shows not even its accounts."""

class RpcNode:
    """A ledger's node, asked over JSON-RPC."""

    # Two slots: by then a node that was a little behind has caught up.
    round_seconds = 0.4

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

UNSUPPORTED_VERSION = -32015

def result_of(method, answer):
    error = answer.get("error")
    if error:
        error = error if isinstance(error, dict) else {}
        reason = error.get("message", "no reason given")
        # Anybody can mention a job in a transaction of a newer version.
        kind = UnknownForm if error.get("code") == UNSUPPORTED_VERSION else VerifyError
        raise kind(f"The ledger's node refused {method}: {reason}")
    if "result" not in answer:
        raise VerifyError(f"The ledger's node answered {method} without a result.")
    return answer["result"]

class SnapshotNode:
    """What a node answered once: `node` of a case in vectors.json. Nothing changes in it."""

    round_seconds = 0

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
            if found is not None and not is_known(found):
                raise UnknownForm("A snapshot shows none of an unknown version.")
            return found
        if method == "getSignaturesForAddress":
            rows, before = self.snapshot["signatures"].get(subject, []), params[1].get("before")
            listed = [row["signature"] for row in rows]
            at = listed.index(before) + 1 if before in listed else 0
            return rows[at : at + min(params[1]["limit"], self.snapshot.get("page", PAGE))]
        raise VerifyError(f"A snapshot does not answer {method}.")

    def account(self, address):
        if address == CLOCK and address not in self.snapshot["accounts"]:
            data = bytes(32) + struct.pack("<q", int(self.snapshot["unix_time"]))
            return {"owner": SYSTEM_PROGRAM, "data": [base64.b64encode(data).decode(), "base64"]}
        return self.snapshot["accounts"].get(address)

def form(kind, called):
    """Reads a value of a node's answer, whose type is checked."""

    def read(value):
        if isinstance(value, kind) and not isinstance(value, bool):
            return value
        raise VerifyError(f"The ledger's node answered in another form: no {called}.")

    return read

fields, items = form(dict, "object"), form(list, "list")
whole, text = form(int, "number"), form(str, "text")

def decode_base64(value):
    try:
        return base64.b64decode(value, validate=True)
    except ValueError as error:
        raise VerifyError("The ledger's node answered in another form: no base64.") from error


# ---- Transactions

VERSION_MAX = 127
KNOWN_VERSIONS = ("legacy", 0, 1)

def read_transaction(node, addresses, signature):
    """The transaction and None, or None and why it cannot be read."""
    options = {**COMMITMENT, "maxSupportedTransactionVersion": VERSION_MAX}
    try:
        found = node.ask("getTransaction", [signature, {**options, "encoding": "base64"}])
        if found is not None and not is_known(fields(found)):
            # Its bytes have a form that is not known here. A node's JSON may show its accounts.
            if isinstance(found.get("transaction"), list):
                found = node.ask("getTransaction", [signature, {**options, "encoding": "json"}])
        if found is None or fields(found).get("meta") is None:
            return None, (signature, "The node lists a transaction and does not show it.")
        return Transaction(signature, found, addresses), None
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError) as error:
        raise VerifyError("The ledger's node answered getTransaction in another form.") from error
    except UnknownForm:
        return None, (signature, "A transaction is of a version that is not read here.")

def version_in(found):
    version = found.get("version")
    return "legacy" if version is None else version

def is_known(found):
    version = version_in(found)
    return not isinstance(version, bool) and version in KNOWN_VERSIONS

class Call:
    def __init__(self, program, accounts, data):
        self.program, self.accounts, self.data, self.inner = program, accounts, data, []

class Transaction:
    """A transaction with everything that the ledger keeps of it."""

    def __init__(self, signature, found, addresses):
        meta = fields(found["meta"])
        signers, keys, instructions, self.signatures, self.message = read_message(found)
        loaded = meta.get("loadedAddresses") or {}
        keys = [*keys, *map(text, loaded.get("writable", []) + loaded.get("readonly", []))]

        def key(at):
            return keys[at] if 0 <= at < len(keys) else ""

        def call(program, accounts, data):
            return Call(key(program), [key(at) for at in accounts], data)

        self.signature, self.slot = signature, whole(found.get("slot"))
        self.signers = keys[:signers]
        self.fee, self.index = whole(meta.get("fee")), index_in(found)
        inner = {
            whole(each["index"]): [
                call(one["programIdIndex"], one["accounts"], base58_decode(one["data"]))
                for one in items(each["instructions"])
            ]
            for each in meta.get("innerInstructions") or []
        }
        if any(not 0 <= at < INSTRUCTIONS_MAX for at in inner):
            raise VerifyError("The ledger's node shows calls of an instruction that cannot be.")
        # What a version that is not known says itself may be missing: what it called is there.
        self.instructions = [call(*each) for each in instructions]
        while len(self.instructions) <= max(inner, default=-1):
            self.instructions.append(Call("", [], b""))
        for at, calls in inner.items():
            self.instructions[at].inner = calls
        self.lamports = {
            one: (balance(meta, "preBalances", at), balance(meta, "postBalances", at))
            for at, one in enumerate(keys)
        }
        self.tokens = read_tokens(meta, key)
        self.events = list(own_events(self, addresses)) if meta.get("err") is None else []

    def is_signed(self):
        """Whether all signers signed what is shown, and the first names the transaction."""
        first = self.signatures[0] if self.signatures else None
        if first is None or base58_encode(first) != self.signature:
            return False
        if self.message is None:
            return True
        signed = zip(self.signers, self.signatures)
        return len(self.signatures) == len(self.signers) and all(
            verify_signature(key, self.message, signature) for key, signature in signed
        )

    def named(self, names, **values):
        """Its events of these names and with these values."""
        named = [event for event in self.events if event.name in names]
        return [event for event in named if values.items() <= event.data.items()]

# Every index is one byte.
INSTRUCTIONS_MAX = 256

def balance(meta, side, at):
    held = meta.get(side) or []
    return whole(held[at]) if at < len(held) else 0

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
            callee = [call.program, *call.accounts]
            is_own = callee == [addresses.program, addresses.event_authority]
            if is_own and call.data[:8] == EVENT_TAG:
                name, data = decode_event(call.data)
                yield Event(name, data, transaction, outer, inner)

def read_message(found):
    """Number of signers, keys, instructions, signatures, and signed bytes, if they are known."""
    shown = found["transaction"]
    if is_known(found) and not isinstance(shown, list):
        raise VerifyError("The ledger's node answered getTransaction in another encoding.")
    if is_known(found):
        *shown, message = decode_wire(decode_base64(shown[0]))
        # The node names the version that was signed: of bytes in another one nothing was.
        return *shown, message if version_of(message) == version_in(found) else b""
    # Without these, only the node says who signed.
    if not isinstance(shown, list):
        return message_of_json(fields(shown))
    try:
        _, keys, instructions, signatures, _ = decode_wire(decode_base64(shown[0]))
    except VerifyError as error:
        raise UnknownForm(str(error)) from error
    return len(signatures), keys, instructions, signatures, None

def version_of(message):
    return message[0] - 0x80 if message[0] >= 0x80 else "legacy"

def message_of_json(shown):
    """What the JSON of a version without a known form shows: its accounts at least."""
    message = fields(shown.get("message"))
    signatures = [base58_decode(one) for one in shown["signatures"]]
    try:
        keys = list(map(text, items(message.get("accountKeys"))))
        if any(len(base58_decode(one)) != 32 for one in keys):
            raise VerifyError("An account's key has not 32 bytes.")
    except VerifyError as error:
        raise UnknownForm(str(error)) from error
    instructions = []
    try:
        instructions = [
            (whole(one["programIdIndex"]), items(one["accounts"]), base58_decode(one["data"]))
            for one in items(message.get("instructions"))
        ]
    except (VerifyError, KeyError, TypeError):
        pass  # They may have any form.
    return len(signatures), keys, instructions, signatures, None

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

def decode_wire(wire):
    """A transaction as the ledger's network carries it: legacy, version 0 or version 1."""
    reader = Reader(wire)
    is_v1 = wire[:1] == b"\x81"
    signatures = [] if is_v1 else [reader.take(64) for _ in range(reader.count())]
    start, first = reader.at, reader.number(1)
    if first >= 0x80 and first not in (0x80, 0x81):
        raise VerifyError("The version of a message is not known.")
    if (first == 0x81) != is_v1:
        raise VerifyError("Signatures stand before a message of version 1.")
    signers = reader.number(1) if first >= 0x80 else first
    reader.take(2)
    keys, instructions = read_v1_body(reader) if is_v1 else read_counted_body(reader, first)
    message = wire[start : reader.at]
    if is_v1:
        signatures = [reader.take(64) for _ in range(signers)]
    reader.end()
    return signers, keys, instructions, signatures, message

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

# The fields of a version 1 message's config, by the bits of its mask.
CONFIG_FIELDS = ((0b11, 8), (0b100, 4), (0b1000, 4), (0b10000, 4))

def read_v1_body(reader):
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
    heads = [[reader.number(size) for size in (1, 1, 2)] for _ in range(instruction_count)]
    return keys, [(at, list(reader.take(count)), reader.take(size)) for at, count, size in heads]


# ---- Layouts of events, accounts and arguments

EVENT_TAG = bytes.fromhex("e445a52e51cb9a1d")
ACCOUNT_VERSION = 3

# From programs/client/idl.json: groups of fields, events, accounts, arguments, words of numbers.
# A name with an @ in a row stands for the fields of its group.
TABLE = """
@event slot:u64 unix_time:i64
@job @event job:pubkey job_sequence:u32 job_id:bytes16
@credit credit_account:pubkey credit_sequence:u64 wallet:pubkey
@worker @event worker:pubkey worker_sequence:u64
@stake @worker tokens:u64 stake_tokens:u64 unstaking_tokens:u64 unstake_ready_at:i64
@gateway @event gateway:pubkey gateway_sequence:u64 operator:pubkey
@model @event model:pubkey model_sequence:u64 id:string
@settings @event config_sequence:u64 authority:pubkey arbiter:pubkey credit_mint:pubkey
  stake_mint:pubkey treasury_share_basis_points:u16 unstake_cooldown_seconds:u32
  open_disputes_max:u8 minimum_stake_tokens:u64 slash_tokens:u32 job_credits_max:u64
  credit_account_credits_max:u64 treasury_floor_credits:u64
@limits limit_per_job_credits:u64 limit_per_day_credits:u64
@prices credits_per_request:u32 credits_per_1k_tokens:u32 long_completion_threshold_tokens:u32
@windows job_timeout_seconds:u16 dispute_window_seconds:u16 arbitration_window_seconds:u32
@proof output_hash:bytes32 prompt_tokens:u32 completion_tokens:u32
@balances available_credits:u64 account_locked_credits:u64 spent_today_credits:u64
@charge charged_credits:u64 returned_credits:u64 worker_base_units:u64 worker_paid:bool
  treasury_base_units:u64 treasury_paid:bool worker_claimable_base_units:u64 jobs_settled:u64
  treasury_sequence:u64 treasury_unpaid_base_units:u64 @balances
ConfigInitialized @settings vault:pubkey treasury_vault:pubkey stake_vault:pubkey stake_decimals:u8
  job_timeout_seconds:u32 dispute_window_seconds:u32 arbitration_window_seconds:u32
ConfigUpdated @settings earlier_floor_credits:u64 earlier_floor_ends_at:i64
AuthorityProposed @event config_sequence:u64 authority:pubkey pending_authority:pubkey
AuthorityAccepted @event config_sequence:u64 authority:pubkey
PauseSet @event config_sequence:u64 deposits_paused:bool locks_paused:bool
TreasuryWithdrawn @event authority:pubkey destination:pubkey base_units:u64
  treasury_vault_base_units:u64
GatewayOpened @gateway signers:keys stopped:bool
GatewayUpdated @gateway signers:keys stopped:bool
GatewayVouched @gateway vouched:bool
ModelUpserted @model tier:Tier label:string originator:string context_window_tokens:u32 @prices
  card_hash:bytes32 created_at:i64 retires_at:i64
ModelRetired @model retires_at:i64
CreditOpened @event @credit spender:pubkey @limits
CreditBought @event @credit buyer:pubkey credits:u64 available_credits:u64 locked_credits:u64
CreditWithdrawn @event @credit destination:pubkey credits:u64 available_credits:u64
  locked_credits:u64
SpenderSet @event @credit spender:pubkey @limits
LimitSet @event @credit @limits
WorkerRegistered @worker authority:pubkey proof_key:pubkey payout:pubkey endpoint:string
WorkerUpdated @worker authority:pubkey proof_key:pubkey previous_proof_key:pubkey
  proof_key_changed_at:i64 payout:pubkey endpoint:string
WorkerHosted @worker model:pubkey
WorkerUnhosted @worker model:pubkey
WorkerSuspended @worker suspended:bool
WorkerDeregistered @worker
StakeDeposited @stake unstake_cooldown_seconds:u32
StakeUnlocked @stake
StakeWithdrawn @stake destination:pubkey
SlashBurned @event treasury_sequence:u64 tokens:u64 slashed_stake_tokens:u64
JobLocked @job @credit controller:pubkey model:pubkey model_id:string tier:Tier token_limit:u32
  @prices treasury_share_basis_points:u16 slash_tokens:u32 @windows rent_payer:pubkey vouched:bool
  locked_credits:u64 available_credits:u64 account_locked_credits:u64 limit_day:u32 spent_day:u32
  spent_today_credits:u64
JobAcknowledged @job worker:pubkey attempt:u8 voided_worker:pubkey voided_attempt:u8
  voided_output_hash:bytes32
JobProven @job worker:pubkey attempt:u8 proof_key:pubkey @proof statement:bytes32
JobSettled @job @credit worker:pubkey worker_sequence:u64 settled_by:pubkey @proof
  counted_tokens:u32 @charge
JobCompleted @job @credit worker:pubkey worker_sequence:u64 settled_by:pubkey attempt:u8
  proof_key:pubkey @proof statement:bytes32 counted_tokens:u32 @charge
JobFailed @job @credit reason:FailureReason returned_credits:u64 @balances
JobRefunded @job @credit returned_credits:u64 @balances
JobDisputed @job @credit treasury_sequence:u64 worker:pubkey client_hash:bytes32 output_hash:bytes32
  charged_credits:u64 repayable_credits:u64 disputed_by_wallet:bool open_disputes:u8
  disputed_exposure_base_units:u64 arbitration_ends_at:i64
DisputeAmended @job credit_account:pubkey wallet:pubkey worker:pubkey client_hash:bytes32
  output_hash:bytes32
DisputeResolved @job @credit worker:pubkey worker_sequence:u64 treasury_sequence:u64
  verdict:DisputeOutcome evidence_hash:bytes32 repaid_credits:u64 charged_credits:u64
  owed_credits:u64 open_disputes:u8 owed_base_units:u64 disputed_exposure_base_units:u64
  slashed_tokens:u64 slashed_stake_tokens:u64 stake_tokens:u64 unstaking_tokens:u64
DisputeExpired @job @credit treasury_sequence:u64 open_disputes:u8 disputed_exposure_base_units:u64
JobClosed @job rent_payer:pubkey rent_lamports:u64
ClaimPaid @event claimant:pubkey claimant_kind:ClaimantKind claimant_sequence:u64
  treasury_sequence:u64 base_units:u64 credits:u64 remaining_base_units:u64 owed_base_units:u64
  unpaid_base_units:u64 available_credits:u64
Job version:u8 bump:u8 sequence:u32 status:JobStatus attempt:u8 tier:Tier outcome:DisputeOutcome
  failure_reason:FailureReason treasury_share_basis_points:u16 job_id:bytes16 credit_account:pubkey
  controller:pubkey model:pubkey worker:pubkey rent_payer:pubkey output_hash:bytes32
  client_hash:bytes32 settled_by:pubkey locked_at:i64 locked_credits:u64 charged_credits:u64 @prices
  token_limit:u32 prompt_tokens:u32 completion_tokens:u32 counted_tokens:u32 slash_tokens:u32
  @windows acknowledged_after_seconds:u16 proven_after_seconds:u16 ended_after_seconds:u32
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
  originator_len:u8 originator:bytes32 context_window_tokens:u32 @prices created_at:i64
  retires_at:i64 card_hash:bytes32 reserved:bytes32
job_lock job_id:bytes16 token_limit:u32 max_credits:u64
job_acknowledge attempt:u8
job_prove @proof statement:bytes32 signature:bytes64
job_settle delivered_hash:bytes32 counted_tokens:u32
job_complete attempt:u8 @proof counted_tokens:u32 statement:bytes32 signature:bytes64
job_fail reason:FailureReason delivered_hash:bytes32 counted_tokens:u32
job_dispute client_hash:bytes32
dispute_resolve verdict:DisputeOutcome key:pubkey recorded_statement:bytes32
  recorded_signature:bytes64 @proof statement:bytes32 signature:bytes64
JobStatus pending processing settling settled failed refunded disputed
FailureReason none worker_error proof_missing proof_invalid output_mismatch empty_output client_gone
  lock_late context_length_exceeded lease_lost orphaned
DisputeOutcome none rejected upheld_gateway upheld_worker expired
Tier lite standard pro max
ClaimantKind credit_account worker treasury
WorkerStatus active suspended deregistered
"""
ROWS = {name: row for name, *row in map(str.split, re.split(r"\n(?! )", TABLE.strip()))}
WORDS = {name: row for name, row in ROWS.items() if not re.search("[@:]", row[0])}

def fields_of(row):
    """The fields of an event, an account or an instruction's arguments, and their types."""
    parts = [fields_of(ROWS[one]) if one[0] == "@" else [one.split(":")] for one in row]
    return [field for part in parts for field in part]

LAYOUTS = {name: fields_of(row) for name, row in ROWS.items() if name not in WORDS}
NO_EVENTS = re.compile("@.*|[a-z_]+|Job|Worker|Config|Model")

def discriminator(space, name):
    return sha256(f"{space}:{name}".encode())[:8]

def sha256(data):
    return hashlib.sha256(data).digest()

EVENTS = [name for name in LAYOUTS if not NO_EVENTS.fullmatch(name)]
EVENT_NAMES = {discriminator("event", name): name for name in EVENTS}

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
    decoded = {field: read_value(reader, kind) for field, kind in LAYOUTS[name]}
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
        return one_of(("false", "true"), reader.number(1)) == "true"
    if kind in WORDS:
        return one_of(WORDS[kind], reader.number(1))
    if kind == "keys":
        return reader.keys(reader.number(4))
    if kind == "string":
        try:
            return reader.take(reader.number(4)).decode("utf-8")
        except UnicodeDecodeError as error:
            raise VerifyError("A text is not UTF-8.") from error
    size = int(kind.strip("bytesk"))
    return reader.take(size) if kind.startswith("bytes") else reader.keys(size)

def one_of(words, at):
    if at < len(words):
        return words[at]
    raise VerifyError(f"{at} stands for none of {', '.join(words)}.")

def offset_in(name, wanted):
    """Where in an account's bytes a field begins, all fields before it being of fixed size."""
    reader = Reader(bytes(1024))
    for field, kind in LAYOUTS[name]:
        if field == wanted:
            break
        read_value(reader, kind)
    return 8 + reader.at


# ---- Addresses

class Addresses:
    """Where the program keeps its accounts."""

    def __init__(self, program):
        self.program, self.id = program, base58_decode(program)
        if len(self.id) != 32:
            raise VerifyError("--program is no ledger address.")
        self.vault = self.find(b"vault")
        self.treasury_vault = self.find(b"treasury_vault")
        self.event_authority = self.find(b"__event_authority")

    def credit_account(self, wallet):
        return self.find(b"credit", key_bytes(wallet))

    def worker(self, authority):
        return self.find(b"worker", base58_decode(authority))

    def model(self, model_id):
        return self.find(b"model", sha256(model_id.encode()))

    def job(self, credit_account, job_id):
        return self.find(b"job", base58_decode(credit_account), job_id)

    @functools.lru_cache(maxsize=1000)
    def find(self, *seeds):
        """The address of the seeds with the highest possible bump, by the ledger's rule."""
        bumps = range(255, -1, -1)
        ends = (bytes([bump]) + self.id + b"ProgramDerivedAddress" for bump in bumps)
        addresses = (sha256(b"".join(seeds) + end) for end in ends)
        return base58_encode(next(one for one in addresses if not is_on_curve(one)))

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

# ---- What keys sign

def proof_message(program, proof):
    """What a worker proves about one attempt at a job (181 bytes)."""
    keys = [key_bytes(key) for key in (program, proof["job"], proof["worker"])]
    attempt, output_hash = proof["attempt"].to_bytes(1, "little"), hash_bytes(proof["output_hash"])
    counts = [proof[name].to_bytes(4, "little") for name in ("prompt_tokens", "completion_tokens")]
    statement = hash_bytes(proof["statement"])
    return b"".join([b"svc-proof-v2", *keys, attempt, output_hash, *counts, statement])

def receipt_message(program, job, output_hash, statement):
    """What the settling key signs for the client (143 bytes)."""
    keys, hashes = map(key_bytes, (program, job)), map(hash_bytes, (output_hash, statement))
    return b"".join([b"svc-delivery-v2", *keys, *hashes])

def hash_bytes(value):
    if len(value) != 32:
        raise ValueError(f"A sha256 has 32 bytes, not {len(value)}.")
    return value

def key_bytes(key):
    decoded = base58_decode(key)
    if len(decoded) != 32:
        raise VerifyError(f"{key} is no key of 32 bytes.")
    return decoded

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
    is_exact = is_whole and format_receipt(signer, signature) == receipt
    return (signer, signature) if is_exact else None

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
    """Whether the key signed the message, as the program judges it."""
    public = base58_decode(key)
    if len(public) != 32 or len(signature) != 64:
        return False
    # OpenSSL takes points of small order, negative zero among them, and encodings of other points.
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

def statement_of(commitment, details):
    """What a proof and a receipt end with: it binds question and answer (32 bytes)."""
    return sha256(hash_bytes(commitment) + hash_bytes(details))

def answer_details(details):
    """The half of a statement that the answer gives (32 bytes)."""
    reasoning, calls = details["reasoning"], details["tool_calls"]
    hashed = {
        "reasoning": sha256(reasoning.encode()).hex() if reasoning else None,
        "tool_calls": sha256(canonical_json(calls).encode()).hex() if calls else None,
    }
    return sha256(canonical_json({**details, **hashed}).encode())

def request_commitment(salt, request):
    """The half of a statement that the request gives (32 bytes)."""
    if len(salt) != 32:
        raise ValueError("A salt has 32 bytes.")
    return sha256(salt + sha256(canonical_json(request).encode("utf-8")))

def canonical_json(value):
    """JSON in the one form of RFC 8785. ValueError for what implementations read differently."""
    if is_deep(value):
        raise ValueError(TOO_DEEP)
    written, left = [], [value]
    # Without recursion, which ends before the depth that a request may have.
    while left:
        one = left.pop()
        if isinstance(one, tuple):
            written.append(one[0])  # It is written already.
        elif isinstance(one, (list, dict)):
            is_list = isinstance(one, list)
            named = [("", held) for held in one] if is_list else fields_in_order(one)
            left.append(("]" if is_list else "}",))
            for at in range(len(named) - 1, -1, -1):
                name, held = named[at]
                left += [held, (f"{',' if at else ''}{name}",)]
            left.append(("[" if is_list else "{",))
        else:
            written.append(canonical_leaf(one))
    return "".join(written)

def fields_in_order(value):
    ordered = sorted(value.items(), key=lambda one: one[0].encode("utf-16-be", "surrogatepass"))
    return [(f"{canonical_leaf(name)}:", held) for name, held in ordered]

def canonical_leaf(value):
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, float)):
        return canonical_number(value)
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
    is_negative, figures, exponent = Decimal(repr(number)).normalize().as_tuple()
    # The value is 0.digits times ten to the power of point.
    digits, point = "".join(map(str, figures)), len(figures) + exponent
    sign = "-" if is_negative else ""
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    tail = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{tail}e{point - 1:+d}"

def refuse_constant(name):
    raise ValueError(f"{name} is no JSON.")

def decoder_of(keep):
    """Reads JSON as ECMAScript does: each number is a double."""
    return json.JSONDecoder(
        parse_int=float, parse_constant=refuse_constant, object_pairs_hook=keep
    )

DECODER = decoder_of(None)

# What becomes of each field, as in the vectors.
REQUEST_FIELDS = {
    "shaped": [
        "model", "messages", "stop", "response_format", "tools", "tool_choice",
        "parallel_tool_calls",
    ],
    "nullable": ["temperature", "top_p", "frequency_penalty", "presence_penalty", "seed"],
    "emptyable": [
        "top_k", "min_p", "repetition_penalty", "reasoning_effort", "logit_bias",
        "chat_template_kwargs",
    ],
    "left_out": [
        "stream", "stream_options", "max_tokens", "max_completion_tokens", "max_credits", "user",
        "store", "metadata", "service_tier", "safety_identifier", "prompt_cache_key",
    ],
    "off": {
        "n": [1], "functions": [], "function_call": ["none"], "logprobs": [False],
        "top_logprobs": [0], "best_of": [1], "prediction": [], "models": [],
        "guided_json": [], "guided_regex": [], "guided_choice": [], "guided_grammar": [],
        "modalities": [["text"]], "audio": [],
    },
    "roles": ["system", "user", "assistant", "developer", "tool"],
    "message_fields": ["role", "content", "refusal", "name", "tool_calls", "tool_call_id"],
}

# The same of the fields that only a request of responses has, or says in another way.
RESPONSES_FIELDS = {
    "translated": [
        "input", "instructions", "max_output_tokens", "text", "reasoning", "tools", "tool_choice",
    ],
    "left_out": ["include", "client_metadata", "max_tool_calls", "prompt_cache_retention"],
    "off": {
        "previous_response_id": [], "conversation": [], "prompt": [], "background": [False],
        "truncation": ["disabled"], "messages": [], "max_tokens": [], "max_completion_tokens": [],
        "response_format": [], "reasoning_effort": [],
    },
    "left_out_tools": [
        "web_search", "web_search_2025_08_26", "web_search_preview",
        "web_search_preview_2025_03_11", "namespace",
    ],
}

def read_request(saved, max_bytes=BYTES_MAX):
    """What a body as it was sent asks for: `chat`, which a worker is given, and limits or None."""
    body, _ = try_parse(part_headers(decode_saved(saved, max_bytes))[0])
    is_of_chat = unless_empty(field_of(body, "messages")) is not None
    if field_of(body, "input") is not None and not is_of_chat:
        body = chat_request_of(body)
    messages, model = field_of(body, "messages"), field_of(body, "model")
    if not isinstance(messages, list) or not isinstance(model, str):
        raise VerifyError(NO_REQUEST)
    assert_taken(body, messages)
    nullable, emptyable = REQUEST_FIELDS["nullable"], REQUEST_FIELDS["emptyable"]
    given = {name: body.get(name) for name in nullable}
    given.update({name: unless_empty(without_prototype(body.get(name))) for name in emptyable})
    stop = body.get("stop")
    stop = [stop] if isinstance(stop, str) else stop
    given["stop"] = stop if isinstance(stop, list) and stop else None
    given["response_format"] = format_of(body.get("response_format"))
    given.update(tool_fields_of(body))
    chat = {"model": model, "messages": [message_of(one) for one in messages]}
    chat.update({name: value for name, value in given.items() if value is not None})
    try:
        canonical_json(chat)
    except ValueError as error:
        raise VerifyError(f"The request has no canonical form. {error}") from error
    tokens, credits_max = body.get("max_tokens"), body.get("max_credits")
    tokens = body.get("max_completion_tokens") if tokens is None else tokens
    lists = ("shaped", "nullable", "emptyable", "left_out", "off")
    others = other_fields(body, [name for one in lists for name in REQUEST_FIELDS[one]])
    own = (name for one in messages for name in other_fields(one, REQUEST_FIELDS["message_fields"]))
    return {
        "chat": chat,
        "others": others,
        "unknown": [*others, *dict.fromkeys(f"messages.{name}" for name in own)],
        "tokens_max": tokens if isinstance(tokens, float) else None,
        "credits_max": credits_max if isinstance(credits_max, float) else None,
    }

NO_REQUEST = "It is no request: save the JSON body that was sent."

def assert_taken(body, messages):
    """What the service refuses was asked of another one."""
    most, other = body.get("max_tokens"), body.get("max_completion_tokens")
    refused = [
        name for name, off in REQUEST_FIELDS["off"].items() if not is_off(body.get(name), off)
    ]
    is_one = isinstance(most, float) and isinstance(other, float) and most == other
    if most is not None and other is not None and not is_one:
        refused.append("max_completion_tokens")
    if not all(field_of(one, "role") in REQUEST_FIELDS["roles"] for one in messages):
        refused.append("role")
    if refused:
        raise refusal_of(refused[0])

def chat_request_of(body):
    """The body of a chat completion that a body of responses stands for."""
    off = RESPONSES_FIELDS["off"]
    refused = [name for name in off if not is_off(body.get(name), off[name])]
    if refused:
        raise refusal_of(refused[0])
    own = {*RESPONSES_FIELDS["translated"], *RESPONSES_FIELDS["left_out"], *off}
    tools, shape = body.get("tools"), field_of(body.get("text"), "format")
    if isinstance(tools, list):
        left_out = RESPONSES_FIELDS["left_out_tools"]
        tools = [within("function", one) for one in tools if field_of(one, "type") not in left_out]
    return {
        **{name: value for name, value in body.items() if name not in own},
        "messages": messages_of(body.get("instructions"), body["input"]),
        "max_tokens": body.get("max_output_tokens"),
        "response_format": within("json_schema", shape),
        "reasoning_effort": field_of(body.get("reasoning"), "effort"),
        "tools": tools,
        "tool_choice": within("function", body.get("tool_choice")),
    }

def within(name, value):
    """With what stands beside a type in an object of its name, as in a chat completion."""
    if field_of(value, "type") != name:
        return value
    return {"type": name, name: {key: held for key, held in value.items() if key != "type"}}

def messages_of(instructions, given):
    said = "" if instructions is None else instructions
    if not isinstance(said, str):
        raise refusal_of("instructions")
    messages = [sent_message("system", said)] if said else []
    if isinstance(given, str):
        return [*messages, sent_message("user", given)]
    if not isinstance(given, list):
        raise refusal_of("input")
    for item in given:
        add_item(messages, item)
    return messages

def add_item(messages, item):
    """A call goes on with the message before it, where that is the assistant's."""
    kind, call_id = field_of(item, "type"), field_of(item, "call_id")
    if kind in (None, "message"):
        messages.append(sent_message(field_of(item, "role"), field_of(item, "content")))
    elif kind == "function_call":
        if not messages or messages[-1]["role"] != "assistant":
            messages.append(sent_message("assistant", ""))
        called = {name: item.get(name) for name in ("name", "arguments")}
        call = {"id": call_id, "type": "function", "function": called}
        messages[-1].setdefault("tool_calls", []).append(call)
    elif kind == "function_call_output":
        messages.append({**sent_message("tool", item.get("output")), "tool_call_id": call_id})
    elif kind != "reasoning" and not is_reference_to_reasoning(item):
        raise refusal_of("input")

def is_reference_to_reasoning(item):
    """Some clients keep no more of it."""
    named = field_of(item, "id")
    is_named = isinstance(named, str) and named.startswith("rs_")
    return field_of(item, "type") == "item_reference" and is_named

def sent_message(role, content):
    if isinstance(content, list):
        texts = ("input_text", "output_text")
        content = [
            {"type": "text", "text": part.get("text")} if field_of(part, "type") in texts else part
            for part in content
        ]
    return {"role": role, "content": content}

def refusal_of(name):
    return VerifyError(f"{NO_REQUEST} The service refuses its {name}.")

def is_off(value, off):
    return unless_empty(value) is None or any(is_same(value, one) for one in off)

def is_same(value, other):
    """In a type of its own, since False equals 0."""
    return isinstance(value, bool) == isinstance(other, bool) and value == other

def other_fields(value, known):
    others = (name for name in value if name != "__proto__" and name not in known)
    given = {name: unless_empty(without_prototype(value[name])) for name in others}
    return {name: held for name, held in given.items() if held is not None}

def message_of(message):
    role, content = field_of(message, "role"), field_of(message, "content")
    content = field_of(message, "refusal") if content is None else content
    content = "" if content is None else content
    texts = list(map(text_of_part, content)) if isinstance(content, list) else [content]
    if not all(isinstance(text, str) for text in [role, *texts]):
        raise VerifyError(NO_REQUEST)
    named = {"role": "system" if role == "developer" else role, "content": joined(texts)}
    return {**named, **call_fields_of(message, role)}

def call_fields_of(message, role):
    """The calls of an assistant's message, or whose result a tool's is."""
    calls, call_id = unless_empty(message.get("tool_calls")), message.get("tool_call_id")
    if calls is not None and not (role == "assistant" and isinstance(calls, list)):
        raise refusal_of("tool_calls")
    if role != "tool":
        return {} if calls is None else {"tool_calls": list(map(sent_call, calls))}
    if not isinstance(call_id, str):
        raise refusal_of("tool_call_id")
    return {"tool_call_id": call_id}

def sent_call(sent):
    """Without the fields that streams have beside these."""
    called = field_of(sent, "function")
    kept = {name: field_of(called, name) for name in ("name", "arguments")}
    if field_of(sent, "type") != "function":
        raise refusal_of("tool_calls")
    if not all(isinstance(text, str) for text in [sent.get("id"), *kept.values()]):
        raise refusal_of("tool_calls")
    return {"id": sent["id"], "type": "function", "function": kept}

def tool_fields_of(body):
    """What a worker is given of the tools that a request offers: nothing where it offers none."""
    tools = unless_empty(body.get("tools"))
    choice = unless_empty(without_prototype(body.get("tool_choice"), "function"))
    if tools is None:
        if choice in (None, "none", "auto"):
            return {}
        raise refusal_of("tool_choice")
    if not isinstance(tools, list):
        raise refusal_of("tools")
    return {
        "tools": [without_prototype(one, "function", "parameters") for one in tools],
        "tool_choice": choice,
        "parallel_tool_calls": unless_empty(without_prototype(body.get("parallel_tool_calls"))),
    }

def text_of_part(part):
    """The service refuses any other: a picture that is left out would seem to be proven."""
    kind = field_of(part, "type")
    text = field_of(part, kind) if kind in ("text", "refusal") else None
    if not isinstance(text, str):
        raise VerifyError("It has a part that is no text.")
    return text

def joined(texts):
    """Halves of a character in two texts become one, as in ECMAScript."""
    return "".join(texts).encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")

def format_of(value):
    """Text is the form of every answer."""
    shape = unless_empty(without_prototype(value, "json_schema", "schema"))
    return None if field_of(shape, "type") == "text" else shape

def without_prototype(value, *path):
    """The service drops a field of this name where it knows the object: here, and along a path."""
    if not isinstance(value, dict):
        return value
    kept = {name: held for name, held in value.items() if name != "__proto__"}
    if path and path[0] in kept:
        kept[path[0]] = without_prototype(kept[path[0]], *path[1:])
    return kept

def unless_empty(value):
    return None if isinstance(value, (list, dict)) and not value else value

def field_of(value, name):
    return value.get(name) if isinstance(value, dict) else None


# ---- A saved answer

PARTS_MAX = 1_000_000
TRAILERS_MAX = 64 * 1024
DEPTH_MAX = 512
TOO_DEEP = f"It is nested deeper than {DEPTH_MAX} levels."
SPACES = "\t\n\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff"
# What ECMAScript takes for white space.
SPACES += "".join(map(chr, range(0x2000, 0x200B)))
CUT = "It ends before the answer does, so the text is not whole."
NO_ANSWER = "It holds no answer, as JSON or as the events of a stream."
SEVERAL_CHOICES = "It holds several choices, and one alone is proven."

def read_answer(saved, max_bytes=BYTES_MAX):
    """Reads an answer as it was saved: JSON, a stream's events, or what a client made of them."""
    body, heads = part_headers(decode_saved(saved, max_bytes))
    is_stream = body[:1] not in ("{", "[")
    values, is_cut, others = events_in(body) if is_stream else values_in(body)
    flat = [one for value in values for one in (value if isinstance(value, list) else [value])]
    assert_few(flat)
    if any(isinstance(one, (list, str)) for one in flat):
        raise VerifyError("It has a part that is no object.")
    objects = [one for one in flat if isinstance(one, dict)]
    parts, is_translated = chat_parts_of(objects, is_stream)
    job_id = job_id_in(parts, heads + others)
    answers = [part for part in parts if part.get("choices") is not None]
    lists = [part["choices"] for part in answers if isinstance(part["choices"], list)]
    choices = list(itertools.chain.from_iterable(lists))
    failed = next((one for one in parts + choices if field_of(one, "error") is not None), None)
    is_of_job = failed and isinstance(field_of(failed.get("svc"), "job_id"), str)
    is_named = is_of_job and isinstance(failed["error"], dict)
    if failed and (not is_named or any(map(is_last, choices))):
        raise VerifyError("It is an error, not an answer.")
    if is_cut:
        raise VerifyError(CUT)
    if not all(isinstance(part["choices"], list) for part in answers):
        raise VerifyError("Its choices are no list.")
    asked = [part for part in parts if isinstance(part.get("messages"), list)]
    if not (answers or failed) or any("choices" not in part for part in asked):
        raise VerifyError(NO_ANSWER)
    # An error that names its job has no text.
    is_chunks = is_stream and not is_translated
    output, details = (None, None) if failed else join_parts(answers, is_chunks)
    if job_id is None:
        raise VerifyError("It names no job. Is it an answer of this service?")
    svc, usage = stated_in(parts, "svc", STATED), stated_in(parts, "usage", USAGE) or {}
    model = agreed("model", [one.get("model") for one in parts], lambda one: isinstance(one, str))
    stated = svc or {}
    halves = ("request_commitment", "answer_details")
    if "output_hash" in stated and any(half not in stated for half in halves):
        raise VerifyError(f"It is of a former form: its svc has not both of {', '.join(halves)}.")
    if details:
        details["truncated"] = stated.get("truncated")
    answer = {**stated, **{f"usage.{name}": value for name, value in usage.items()}}
    answer.update({} if model is None else {"model": model})
    return {
        "job_id": job_id,
        "output": output,
        "details": details,
        "answer": None if svc is None else answer,
        "salt": stated.get("request_salt"),
        "receipt": stated.get("delivery_receipt"),
        "wallet": wallet_in(svc["verify_url"], job_id) if "verify_url" in stated else None,
    }

def decode_saved(saved, max_bytes):
    if len(saved) > max_bytes:
        raise VerifyError(f"It has more than {max_bytes} bytes: --max-bytes takes more.")
    if isinstance(saved, str):
        return saved[1:] if saved[:1] == "\ufeff" else saved
    # Shells of Windows write UTF-16, and its mark before it.
    encoding = "utf-16" if saved[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return saved.decode(encoding)
    except UnicodeDecodeError as error:
        raise VerifyError("It is no text in UTF-8: save the answer as it came.") from error

STATUS_LINE = re.compile(
    rf"[{SPACES}]*HTTP/\d+(?:\.\d+)? \d{{3}}(?: [^\r\n]*)?(?=\r?\n|\Z)", re.ASCII
)
END_OF_HEADERS = re.compile(r"\r?\n\r?\n|\Z")
JSON_START = re.compile(rf"[{SPACES}]*(?=[{{\[])")
# A line of headers or trailers.
FIELD = re.compile(r"[\w-]+:[^\r\n]*\r?", re.ASCII)
# What a client of streams takes for a field of an event, also behind what some take for a line end.
CONTROL = "[\0-\x08\n-\x1f\x7f-\x9f\u2028\u2029]"
OF_EVENTS = re.compile(
    rf"(?:^|{CONTROL})[^\w:]*(?:data|event|id|retry)[^\w:]*:", re.ASCII | re.IGNORECASE
)

def is_field(line):
    return FIELD.fullmatch(line) and not OF_EVENTS.search(line)

def part_headers(saved):
    """The body, and the lines of headers: several behind a proxy, or an early status."""
    at, heads = 0, []
    while status := STATUS_LINE.match(saved, at):
        end = END_OF_HEADERS.search(saved, status.end())
        lines = saved[status.end() : end.start()].split("\n")[1:]
        if not all(map(is_field, lines)):
            raise VerifyError("Its headers have a line of another form.")
        heads, at = heads + lines, end.end()
    json_start = JSON_START.match(saved, at)
    return saved[json_start.end() if json_start else at :], heads

def assert_few(values):
    if len(values) > PARTS_MAX:
        raise VerifyError("It has more than a million parts.")

def try_parse(source, decoder=None):
    """The value and True, or None and False where it is not JSON."""
    assert_shallow(source)
    try:
        return (decoder or DECODER).decode(source), True
    except ValueError:
        return None, False

# As Go compares names: these two letters are those of ASCII in another case.
FOLDED = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ\u017f\u212a", "abcdefghijklmnopqrstuvwxyzsk")

class Names:
    """The names of an answer's fields, which readers must not take differently."""

    def __init__(self):
        self.decoder = decoder_of(self.keep)

    def forget(self):
        self.seen, self.is_twice = set(), False

    def keep(self, fields):
        value = dict(fields)
        self.is_twice = self.is_twice or len(value) < len(fields)
        self.seen.update(value)
        return value

    def check(self, values):
        # A walk takes longer, and few answers need it.
        is_other = any(map(is_taken, self.seen)) and any(map(is_taken, names_in(values)))
        if self.is_twice or is_other:
            raise VerifyError("Not all clients read its fields alike.")

def is_taken(name):
    plain = name.translate(FOLDED)
    return name != plain and plain in READ

def names_in(values):
    """All names, without those in what an answer of responses repeats of its request."""
    left = list(values)
    while left:
        one = left.pop()
        if isinstance(one, dict):
            yield from one
            left += [held for name, held in one.items() if name not in REPEATED]
        elif isinstance(one, list):
            left += one

NAMES = Names()

def try_read(source):
    """The same of an answer."""
    NAMES.forget()
    value, is_whole = try_parse(source, NAMES.decoder)
    if is_whole:
        NAMES.check([value])
    return value, is_whole

def is_deep(value):
    nested, depth = [value], 0
    while nested := [one for one in nested if isinstance(one, (list, dict))]:
        depth += 1
        if depth > DEPTH_MAX:
            return True
        lists = [one.values() if isinstance(one, dict) else one for one in nested]
        nested = itertools.chain.from_iterable(lists)
    return False

WHITE = re.compile(r"[ \t\r\n]*")

def values_in(body):
    """The values of a body, whether it ends within one, and the lines of trailers behind them."""
    value, is_whole = try_read(body)
    if is_whole:
        return [value], False, []
    NAMES.forget()
    values, at = [], 0
    while body[at : at + 1] in ("{", "["):
        if body.startswith("[DONE]", at):
            at += len("[DONE]")
            break
        try:
            value, end = NAMES.decoder.raw_decode(body, at)
        except ValueError:
            if end_of_value(body, at) is None:
                return values, True, []
            raise VerifyError(f"It is not JSON at character {at}.") from None
        values.append(value)
        assert_few(values)
        at = WHITE.match(body, end).end()
    NAMES.check(values)
    rest = body[at:]
    if len(rest.encode("utf-16-le", "surrogatepass")) > 2 * TRAILERS_MAX:
        raise VerifyError("It has more than 64 KiB behind the answer.")
    others = rest.split("\n")
    if not all(line in ("", "\r") or is_field(line) for line in others):
        raise VerifyError(f"It is not JSON at character {at}.")
    return values, False, others

STRING = re.compile(r'"[^"\\]*(?:\\.?[^"\\]*)*(?:"|\Z)', re.DOTALL)
STEPS = {"{": 1, "[": 1, "}": -1, "]": -1}

def assert_shallow(source):
    """Bounds how many lists and objects are open; also in what is not JSON."""
    if source.count("{") + source.count("[") <= DEPTH_MAX:
        return
    brackets = re.sub("[^{}\\[\\]]+", "", STRING.sub("", source))
    depths = list(itertools.accumulate(map(STEPS.get, brackets)))
    # What closes more than is open leaves the depth at 0.
    lows = itertools.accumulate(depths, min, initial=0)
    if max(map(operator.sub, depths, lows), default=0) > DEPTH_MAX:
        raise VerifyError(TOO_DEEP)

MARKS = re.compile(r'\\.|["{}\[\]]', re.DOTALL)

def end_of_value(source, start):
    """Where the value ends that begins at `start`; None where the text ends before."""
    levels, is_text = 0, False
    for mark in MARKS.finditer(source, start):
        # Outside of a text, a backslash escapes nothing.
        sign = mark.group() if is_text else mark.group()[-1]
        if sign == '"':
            is_text = not is_text
        elif not is_text and sign in "{}[]":
            levels += STEPS[sign]
            if levels == 0:
                return mark.end()
    return None

LINE = re.compile(r"([^\r\n]*)(?:\r\n|\n|\r|\Z)")
# Some clients take it for data or a name, and others do not.
NEARLY = re.compile(r"[^\w:]*(?:data|event)[^\w:]*:", re.ASCII | re.IGNORECASE)
# The same behind what some take for a line end.
BEHIND = re.compile(CONTROL + NEARLY.pattern, re.ASCII | re.IGNORECASE)
# A line that some take for JSON.
BARE = re.compile(r"[^\w:]*[{\[]", re.ASCII)
DIFFERING = "Not all clients read each of its events."
# What clients look for in an event.
PARTS = ("choices", "error", "model", "svc", "usage")

def events_in(body):
    """The data of server-sent events, whether the last one is cut, and all other lines."""
    values, others, data, name, broken, is_done = [], [], [], "", None, False
    # Whether events of responses have names: all of them, or none.
    is_typed = None
    if "\n" in body and re.search(r"\r(?!\n|\Z)", body):
        raise VerifyError(DIFFERING)
    # The match at the end is an empty line, which ends the last event.
    for line in (match.group(1) for match in LINE.finditer(body)):
        if BEHIND.search(line):
            raise VerifyError(DIFFERING)
        if line.startswith("data:"):
            data.append(line[6:] if line[5:6] == " " else line[5:])
            assert_few(data)
            is_end = data[-1].strip(SPACES) == "[DONE]"
            if is_done and not is_end:
                raise VerifyError("It goes on behind its [DONE].")
            is_done = is_done or is_end
        elif line == "event" or line.startswith("event:"):
            name = line[7:] if line[6:7] == " " else line[6:]
        elif line:
            is_bare = BARE.match(line) and line.strip(SPACES) != "[DONE]"
            if NEARLY.match(line) or is_bare:
                raise VerifyError(DIFFERING)
            others.append(line)
        else:
            lines, data = data, []
            event, name = name, ""
            if not lines:
                continue
            parsed = parse_event([one for one in lines if one.strip(SPACES) != "[DONE]"])
            is_own = is_event_type(event) or (event == "error" and is_typed is True)
            is_named = event not in ("", "message") and not is_own
            if any(isinstance(one, list) or (is_named and is_part(one)) for one in parsed or []):
                raise VerifyError(DIFFERING)
            types = [event] if parsed is None else [field_of(one, "type") for one in parsed]
            if is_own and types != [event]:
                raise VerifyError(DIFFERING)
            if any(map(is_of_responses, parsed or [])):
                if is_typed is (not is_own):
                    raise VerifyError(DIFFERING)
                is_typed = is_own
            if is_named:
                others += lines
                continue
            if broken is not None:
                raise VerifyError(f"Event {broken} is not JSON.")
            broken = len(values) + 1 if parsed is None else None
            values += parsed or []
            assert_few(values)
    # Only the last one may be broken: the stream was cut within it.
    return values, broken is not None, others

def is_part(value):
    is_named = isinstance(value, dict) and any(name in value for name in PARTS)
    return is_named or is_of_responses(value)

def parse_event(lines):
    """The data of an event, in some lines; where empty ones were lost, each line is one."""
    if not lines:
        return []
    value, is_whole = try_read("\n".join(lines))
    if is_whole:
        return [value]
    parsed = [try_read(line) for line in lines]
    return [one for one, _ in parsed] if all(is_json for _, is_json in parsed) else None

JOB_IDS = re.compile("job_[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}")

def job_id_in(parts, lines):
    """The job of all parts; no other line names another one."""
    pairs = ((field_of(part.get("svc"), "job_id"), part.get("id")) for part in parts)
    found = itertools.chain.from_iterable(pairs)
    named = [re.sub("^(chatcmpl-|resp_)", "", one) for one in found if isinstance(one, str)]
    ids = {one for one in named if parse_job_id(one)}
    if ids:
        ids.update(found for line in lines for found in JOB_IDS.findall(line))
    if len(ids) > 1:
        several = f"It holds answers of several jobs, {' and '.join(sorted(ids))}"
        raise VerifyError(f"{several}: save one.")
    return ids.pop() if ids else None

ITEM_TEXTS = {
    "message": "output_text",
    "reasoning": "reasoning_text",
    "function_call": "function_call_arguments",
}
BEGINNINGS = ["response.created", "response.in_progress"]
ENDS = ("response.completed", "response.incomplete", "response.failed")
UNLIKE = "Not all clients read its output alike."

def is_event_type(value):
    return isinstance(value, str) and value.startswith("response.")

def is_response(part):
    return field_of(part, "object") == "response"

def is_of_responses(part):
    return is_response(part) or is_event_type(field_of(part, "type"))

def chat_parts_of(parts, is_stream):
    """The parts of a chat completion that they stand for, and whether they are of responses."""
    if not any(map(is_of_responses, parts)):
        return parts, False
    others = [one for one in parts if not (is_of_responses(one) or one.get("type") == "error")]
    if others or any(one.get("choices") is not None for one in parts):
        raise VerifyError("It holds answers of two formats.")
    if not any(map(is_response, parts)):
        return chat_parts_of_events(parts), True
    if is_stream or len(parts) > 1 or is_event_type(parts[0].get("type")):
        raise VerifyError("It holds several answers: save one.")
    return [completion_of(parts[0])], True

def chat_parts_of_events(events):
    """The last one repeats the whole. What an event says beside its response counts, too."""
    wholes = [one.get("response") for one in events]
    ends = [at for at, one in enumerate(events) if one.get("type") in ENDS]
    if not ends:
        return [*events, *map(about_of, wholes), {"choices": []}]
    status = field_of(wholes[-1], "status")
    if ends != [len(events) - 1] or events[-1]["type"] != f"response.{status}":
        raise VerifyError(UNLIKE)
    if status != "failed":
        assert_alike(events[:-1], items_of(wholes[-1]))
    return [*events, *map(about_of, wholes[:-1]), completion_of(wholes[-1])]

def about_of(response):
    """What an answer says beside its output, by the names of a chat completion."""
    usage = field_of(response, "usage")
    if isinstance(usage, dict):
        counts = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens"}
        usage = {name: usage.get(own) for name, own in {**counts, "cost": "cost"}.items()}
    said = {name: field_of(response, name) for name in ("id", "model", "svc", "error")}
    return {**said, "usage": usage}

def completion_of(response):
    """A whole answer as a plain one of a chat completion. One that failed has its error alone."""
    if field_of(response, "status") == "failed":
        return about_of(response)
    items = items_of(response)
    texts = {kind: joined(one[2] for one in items if one[0] == kind) for kind in ITEM_TEXTS}
    if field_of(response, "output_text") not in (None, texts["message"]):
        raise VerifyError(UNLIKE)
    calls = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": written}}
        for kind, _, written, call_id, name in items if kind == "function_call"
    ]
    message = {"content": texts["message"], "reasoning_content": texts["reasoning"]}
    message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "finish_reason": finish_reason_of(response, calls)}
    return {**about_of(response), "choices": [choice]}

def finish_reason_of(response, calls):
    """None where it has not ended."""
    details, status = field_of(response, "incomplete_details"), field_of(response, "status")
    if status == "completed" and details is None:
        return "tool_calls" if calls else "stop"
    reason = field_of(details, "reason") if status == "incomplete" else None
    if reason == "max_output_tokens":
        return "length"
    return reason if reason == "content_filter" else None

def items_of(response):
    output = field_of(response, "output")
    if not isinstance(output, (list, type(None))):
        raise VerifyError(UNLIKE)
    return list(map(item_of, output or []))

def item_of(item):
    """Its type, id and text, and a call's id and name. What else clients show is not proven."""
    kind, item_id, content = (field_of(item, name) for name in ("type", "id", "content"))
    unproven = [field_of(item, name) for name in ("summary", "encrypted_content")]
    if not isinstance(item_id, (str, type(None))) or not all(map(is_nothing, unproven)):
        raise VerifyError(UNLIKE)
    if kind == "function_call" and is_nothing(content):
        return (kind, item_id, *(text_in(item, name) for name in ("arguments", "call_id", "name")))
    content = [] if content is None else content
    if kind not in ("message", "reasoning") or not isinstance(content, list) or len(content) > 1:
        raise VerifyError(UNLIKE)
    return (kind, item_id, "".join(text_of(part, kind) for part in content), None, None)

def text_of(part, kind):
    unproven = [field_of(part, name) for name in ("annotations", "logprobs")]
    if field_of(part, "type") != ITEM_TEXTS[kind] or not all(map(is_nothing, unproven)):
        raise VerifyError(UNLIKE)
    return text_in(part, "text")

def text_in(value, name):
    held = field_of(value, name)
    if not isinstance(held, str):
        raise VerifyError(UNLIKE)
    return held

def assert_alike(events, items):
    """Some clients read the pieces of a stream, others its items, or the whole at its end."""
    begun = [one.get("response") for one in events[:2]]
    held = [field_of(one, name) for one in begun for name in ("output", "output_text")]
    is_begun = [one.get("type") for one in events[:2]] == BEGINNINGS and all(map(is_nothing, held))
    found, places = [[] for _ in items], {}
    for event in events[2:] if is_begun else []:
        kind, at, part_at = (event.get(name) for name in ("type", "output_index", "content_index"))
        is_first = part_at is None or (part_at == 0 and part_at is not False)
        if not is_count(at) or at >= len(items) or not is_first:
            raise VerifyError(UNLIKE)
        item = items[int(at)]
        # Calls stay open while texts go on, and an earlier one may go on behind a later one.
        order = kind if kind == "response.output_item.added" else (item[0], kind)
        if at < places.get(order, 0) and kind != "response.function_call_arguments.delta":
            raise VerifyError(UNLIKE)
        places[order] = at
        found[int(at)].append(said_by(event, kind, item))
    if not is_begun or list(map(joined_pieces, found)) != list(map(said_of, items)):
        raise VerifyError(UNLIKE)

def said_by(event, kind, item):
    """What an event says of its item."""
    if kind.startswith("response.output_item."):
        return (kind, *item_of(event.get("item")))
    item_id, delta = event.get("item_id"), f"response.{ITEM_TEXTS[item[0]]}.delta"
    if kind.startswith("response.content_part."):
        return (kind, item_id, text_of(event.get("part"), item[0]))
    if kind.endswith(".delta"):
        if kind != delta:
            raise VerifyError(UNLIKE)
        return (kind, item_id, text_in(event, "delta"))
    text = text_in(event, "arguments" if item[0] == "function_call" else "text")
    name = event.get("name")
    return (kind, item_id, text, item[4] if name is None else name)

def joined_pieces(said):
    """Pieces that follow each other are one; an empty one says nothing."""
    found = []
    kept = [one for one in said if not (one[0].endswith(".delta") and one[2] == "")]
    for (kind, item_id), run in itertools.groupby(kept, key=lambda one: one[:2]):
        run = list(run)
        is_delta = kind.endswith(".delta")
        found += [(kind, item_id, joined(one[2] for one in run))] if is_delta else run
    return found

def said_of(item):
    """What the events of an item say in all."""
    kind, item_id, text, call_id, name = item
    events, is_call = f"response.{ITEM_TEXTS[kind]}", kind == "function_call"

    def whole(when, held):
        part = [] if is_call else [(f"response.content_part.{when}", item_id, held)]
        return (f"response.output_item.{when}", kind, item_id, held, call_id, name), part

    (added, part_added), (done, part_done) = whole("added", ""), whole("done", text)
    pieces = [(f"{events}.delta", item_id, text)] if text else []
    return [added, *part_added, *pieces, (f"{events}.done", item_id, text, name), *part_done, done]

def join_parts(answers, is_stream):
    """The text of a plain answer, or of a stream's chunks in their order."""
    choices = [choice for answer in answers for choice in answer["choices"]]
    # In a type of its own, since False equals 0.
    indexes = [field_of(choice, "index") for choice in choices]
    is_first = all(one is None or (one == 0 and one is not False) for one in indexes)
    if not is_first or any(len(answer["choices"]) > 1 for answer in answers):
        raise VerifyError(SEVERAL_CHOICES)
    messages = [choice for choice in choices if field_of(choice, "message") is not None]
    if any(field_of(choice, "delta") is not None for choice in messages):
        raise VerifyError("It holds both a message and a delta.")
    if messages and is_stream:
        raise VerifyError("Its events hold a message for a delta.")
    if messages and len(answers) > 1:
        raise VerifyError("It holds several answers: save one.")
    ends = list(map(is_last, choices))
    if not any(ends):
        raise VerifyError(CUT)
    parts = [field_of(choice, "message" if messages else "delta") for choice in choices]
    for name in ("content", "reasoning_content"):
        if not all(isinstance(field_of(part, name), (str, type(None))) for part in parts):
            raise VerifyError(f"Its {name} is no text.")
    for name in ("refusal", "function_call", "audio", "reasoning"):
        if not all(is_nothing(field_of(part, name)) for part in parts):
            raise VerifyError(f"Its {name} is not proven.")
    reasons = [choice["finish_reason"] for choice in itertools.compress(choices, ends)]
    if any(reason != reasons[0] for reason in reasons):
        raise VerifyError("Its parts name several finish reasons.")
    said = ("content", "reasoning_content", "tool_calls")
    if any(field_of(part, name) for part in parts[ends.index(True) + 1 :] for name in said):
        raise VerifyError("It goes on behind its finish reason.")
    text, reasoning = (joined(field_of(part, name) or "" for part in parts) for name in said[:2])
    calls = tool_calls_in([field_of(part, "tool_calls") for part in parts], not messages)
    if re.search("[\ud800-\udfff]", json.dumps([reasons[0], reasoning, calls], ensure_ascii=False)):
        raise VerifyError("It holds half of a character.")
    return text, {"finish_reason": reasons[0], "reasoning": reasoning, "tool_calls": calls}

def tool_calls_in(lists, is_stream):
    """The calls of tools in the order of their index. In a stream one goes on in later parts."""
    calls, written = [], []
    unreadable = VerifyError("Not all clients read its tool_calls alike.")
    for parts in (one for one in lists if one is not None):
        if not isinstance(parts, list):
            raise unreadable
        for at, said in enumerate(parts):
            index, called = field_of(said, "index"), field_of(said, "function")
            index = float(at) if index is None and not is_stream else index
            named = [field_of(said, "id"), field_of(called, "name")]
            more = field_of(called, "arguments")
            if not is_count(index) or not isinstance(more, (str, type(None))):
                raise unreadable
            is_begun = index < len(calls) and is_stream
            is_named = all(isinstance(one, str) and one for one in named)
            is_function = field_of(said, "type") in (None, "function")
            if index == len(calls) and is_named and is_function:
                calls.append(named)
                written.append([])
            elif not is_begun or any(one not in (None, "") for one in named):
                raise unreadable
            written[int(index)].append(more or "")
    return [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": joined(parts)}}
        for (call_id, name), parts in zip(calls, written)
    ]

def is_last(choice):
    """Some write an empty reason where there is none yet."""
    reason = field_of(choice, "finish_reason")
    return isinstance(reason, str) and reason != ""

def is_nothing(value):
    """Programs with fixed types write an empty text or object where a field is missing."""
    if isinstance(value, dict):
        return all(map(is_nothing, value.values()))
    return value is None or value in ("", [])

def is_number(value):
    return isinstance(value, float)

def is_count(value):
    return is_number(value) and value.is_integer() and 0 <= value < 2**53

def is_like(shape):
    return lambda value: isinstance(value, str) and bool(re.fullmatch(shape, value, re.ASCII))

HEX_HASH = "[0-9a-f]{64}"
ADDRESS = "[1-9A-HJ-NP-Za-km-z]{32,44}"
SIGNATURE = "[1-9A-HJ-NP-Za-km-z]{64,88}"
STATED = {
    "job_id": is_like("job_[0-9a-f]{32}"),
    "worker": is_like(ADDRESS),
    "attempt": is_count,
    "credits_charged": is_count,
    "usdc_value": is_number,
    "output_hash": is_like("sha256:[0-9a-f]{64}"),
    "request_salt": is_like(HEX_HASH),
    "request_commitment": is_like(HEX_HASH),
    "answer_details": is_like(HEX_HASH),
    "delivery_receipt": is_like(r"[\w.-]{1,200}"),
    "escrow_tx": is_like(SIGNATURE),
    "settlement_tx": is_like(SIGNATURE),
    "verify_url": is_like(r"https?://[!-~]{1,2000}"),
    "truncated": is_like("deadline"),
}
USAGE = {"cost": is_number, "prompt_tokens": is_count, "completion_tokens": is_count}
# What a reader of answers looks for. Some readers take a name in another case for it.
READ = {
    "choices", "message", "delta", "content", "refusal", "tool_calls", "function_call", "audio",
    "finish_reason", "index", "id", "model", "error", "svc", "usage", *STATED, *USAGE,
    "reasoning_content", "reasoning", "type", "function", "name", "arguments", "object", "response",
    "status", "incomplete_details", "reason", "output", "output_text", "item", "item_id", "part",
    "text", "call_id", "output_index", "content_index", "summary", "encrypted_content",
    "annotations", "logprobs", "input_tokens", "output_tokens",
}
# What an answer of responses repeats of its request, in which names are its client's.
REPEATED = {"tools", "format", "metadata"}

def stated_in(parts, name, forms):
    """What the parts say, each field alike wherever it is not null: late ones come with the end."""
    said = [part[name] for part in parts if part.get(name) is not None]
    if not all(isinstance(one, dict) for one in said):
        raise VerifyError(f"Its {name} has another form.")
    fields = {}
    for field in forms:
        value = agreed(f"{name}.{field}", [one.get(field) for one in said], forms[field])
        fields.update({} if value is None else {field: value})
    return fields if said else None

def agreed(name, values, is_of_form):
    """The one value of all that are not null, or None."""
    given = [one for one in values if one is not None]
    if not all(map(is_of_form, given)):
        raise VerifyError(f"Its {name} has another form.")
    if any(one != given[0] for one in given):
        raise VerifyError(f"Its parts differ in {name}.")
    return given[0] if given else None

def wallet_in(verify_url, job_id):
    """The wallet behind the `#` of a link to Verify; nothing is asked at the link's host."""
    page, _, fragment = verify_url.partition("#")
    if not page.endswith(f"/{job_id}"):
        raise VerifyError(f"Its svc.verify_url is not of {job_id}.")
    query = re.sub(r"^\?", "", fragment.partition("#")[0])
    wallet = urllib.parse.parse_qs(query, keep_blank_values=True).get("wallet", [""])[0]
    return wallet if re.fullmatch(ADDRESS, wallet) and len(base58_decode(wallet)) == 32 else None


# ---- The vectors

def run_vectors(path):
    """Runs all cases of a file as receipts/vectors.json. Prints what differs, and a count."""
    with open(path, encoding="utf-8") as file:
        vectors = json.load(file)
    differing = 0
    lists = {"request_fields": REQUEST_FIELDS, "responses_fields": RESPONSES_FIELDS}
    for name, own in lists.items():
        if vectors.get(name, own) != own:
            differing += 1
            print(f"DIFFERS: {name}")
    for case in vectors["cases"]:
        try:
            found = run_case(case, vectors)
        except (OverflowError, RecursionError, ValueError, VerifyError):
            found = {"refused": True}
        if found != case["expected"]:
            differing += 1
            print(f"DIFFERS: {case['kind']}: {case['name']}: {found}, not {case['expected']}")
    count = len(vectors["cases"])
    print(f"{max(count - differing, 0)} of {count} cases as expected.")
    return count > 0 and differing == 0

def run_case(case, vectors):
    if case["kind"] == "job":
        return run_job(case, vectors)
    return run_unit(case["kind"], case["input"], vectors.get("program_id"))

def run_job(case, vectors):
    """What a whole verification of a snapshot gives."""
    shared, changes = vectors["nodes"][case["node"]], case.get("changes", {})
    snapshot = {**shared, **changes}
    for part in ("transactions", "accounts", "signatures"):
        snapshot[part] = {**shared[part], **changes.get(part, {})}
    files = {"answer": "response", "request": "request", "output": "output", "card": "card"}
    given = {name: case[field].encode() for field, name in files.items() if field in case}
    names = ("salt", "answer_details", "receipt")
    given.update({name: case[name] for name in names if name in case})
    address, program = case.get("job"), vectors["program_id"]
    checks = verify(SnapshotNode(snapshot), address=address, program=program, **given)["checks"]

    def named(verdict):
        return [check["name"] for check in checks if check["verdict"] == verdict]

    failing, not_checkable = named("fails"), named("not_checkable")
    return {"result": conclude(checks), "failing": failing, "not_checkable": not_checkable}

def run_unit(kind, given, program):
    """What one function makes of the case's input."""
    if kind == "canonical_json":
        return {"canonical": canonical_json(DECODER.decode(given["json"]))}
    if kind == "commitment":
        salt, request = bytes.fromhex(given["salt"]), DECODER.decode(given["request"])
        return {"commitment": request_commitment(salt, request).hex()}
    if kind == "request":
        request = {**read_request(given["request"])["chat"], "token_limit": given["token_limit"]}
        return {"commitment": request_commitment(bytes.fromhex(given["salt"]), request).hex()}
    if kind == "answer":
        read = read_answer(given["saved"] if "saved" in given else bytes.fromhex(given["bytes"]))
        said = read["details"]
        read["details"] = None if said is None else answer_details(said).hex()
        renamed = {"output": "text", "salt": "request_salt", "receipt": "delivery_receipt"}
        return {renamed.get(name, name): read[name] for name in read if name != "answer"}
    if kind == "job_id":
        job_id, addresses = parse_job_id(given["job_id"]), Addresses(program)
        if job_id is None:
            raise ValueError("It is no job id.")
        account = addresses.credit_account(given["wallet"])
        address = addresses.job(account, job_id)
        return {"bytes": job_id.hex(), "credit_account": account, "address": address}
    if kind == "proof_message":
        hashes = {name: bytes.fromhex(given[name]) for name in ("output_hash", "statement")}
        return signed_form(proof_message(program, {**given, **hashes}))
    if kind == "statement":
        details = answer_details(given["details"])
        statement = statement_of(bytes.fromhex(given["request_commitment"]), details)
        return {"answer_details": details.hex(), "statement": statement.hex()}
    if kind == "receipt_message":
        hashes = (bytes.fromhex(given[name]) for name in ("output_hash", "statement"))
        return signed_form(receipt_message(program, given["job"], *hashes))
    if kind == "receipt":
        parts = parse_receipt(given["receipt"])
        if parts is None:
            raise ValueError("It is no receipt.")
        return {"signer": parts[0], "signature": parts[1].hex()}
    if kind == "signature":
        message, signature = bytes.fromhex(given["message"]), bytes.fromhex(given["signature"])
        return {"holds": verify_hashed(given["public_key"], message, signature)}
    name, event = decode_event(bytes.fromhex(given["data"]))
    texts = {field: show(event[field]) for field, kind in LAYOUTS[name] if kind in ("u64", "i64")}
    keys = {field: show(value) for field, value in event.items() if isinstance(value, bytes)}
    return {"name": name, "fields": {**event, **texts, **keys}}

def signed_form(message):
    return {"message": message.hex(), "sha256": sha256(message).hex()}

if __name__ == "__main__":
    for _stream in (sys.stdout, sys.stderr):
        # Half of a character, or one that the terminal lacks, is shown by its number.
        _stream.reconfigure(errors="backslashreplace")
    sys.exit(main())
