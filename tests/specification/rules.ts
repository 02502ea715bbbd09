/** One thing that the published interface, or a choice of ours where it is silent, promises. */
export interface Rule {
  /** Stands as `[id]` at the end of the title of each test that shows the rule. */
  id: string;
  /** In a sentence. */
  rule: string;
  /** Why no test shows it yet. */
  open?: string;
}

/** Every rule by its id. */
const RULES: Readonly<Record<string, string>> = {
  'completions.compatible':
    'Existing clients of the chat-completions format work with base address and key changed.',
  'completions.required-fields': 'Model and messages are required, everything else is optional.',
  'completions.field-ranges':
    'Sampling fields out of their ranges are refused, and the field is named.',
  'completions.roles': 'Messages are from system, user or assistant; developer is read as system.',
  'completions.unsupported':
    'Tools, functions, log probabilities, several choices, predictions and media are refused unless off.',
  'completions.body-limits':
    'A body above 2 MiB, 50,000 values, 2,048 messages or 128 levels, or no JSON object, is a 400.',
  'completions.plain':
    'A plain answer is one completion object with id, choices, finish reason and usage.',
  'completions.plain-headers':
    'A plain answer names its job, lock, settlement, worker and remaining credits in headers.',
  'completions.stream':
    'A stream starts with the assistant role, ends with an empty delta and a finish reason, then [DONE].',
  'completions.stream-usage': 'Usage comes in a chunk without choices, and only on request.',
  'completions.stream-headers': 'A stream is an event stream that no proxy changes or buffers.',
  'completions.stream-trailers':
    'Settlement, remaining credits, output hash and delivery receipt follow a stream as trailers.',
  'completions.stream-keep-alive': 'A stream silent for ten seconds carries a comment.',
  'completions.stream-error':
    'A failure after the first content is one error event without [DONE].',
  'completions.max-tokens': 'The answer never exceeds the token limit, and says that it was cut.',
  'completions.stop-and-seed':
    'Stop sequences end the text before them; an equal seed gives an equal text where the engine can.',
  'completions.reasoning':
    'Reasoning reaches the client, and is neither in the proven text nor in the charge.',
  'completions.slow-reader': 'A client that reads slowly never slows the worker.',
  'completions.unsettled-in-time':
    'A plain answer whose settlement is not confirmed within 10 s comes without that header.',
  'charging.launch-prices':
    'A request costs 2, 8, 18 or 40 credits by tier; the launch catalog has eight models.',
  'charging.threshold':
    'Up to 500 output tokens the price per request is charged, above it the rate per 1,000, rounded up.',
  'charging.lock-before-work': 'Credits are locked before a worker is asked.',
  'charging.lock-amount':
    'Locked is the higher of the price per request and the charge for the token limit.',
  'charging.default-limit': 'Without a token limit a request locks what its tier says.',
  'charging.never-above-lock':
    'A charge never exceeds its lock, and the difference comes back with the settlement.',
  'charging.deducted-at-settlement':
    'Credits are deducted, and the worker paid, when the proof is verified on the ledger.',
  'charging.shares':
    'Of a charge the treasury gets its share of 15 % and the worker the rest, to the base unit.',
  'charging.credit-value': 'One credit is 0.01 stablecoin unit.',
  'charging.same-balance': 'A key spends from the balance of the wallet that made it.',
  'charging.price-changes':
    'A price raised after the quote is refused by the ledger; jobs in flight keep their prices.',
  'charging.quoted-once-more': 'After a changed price the API quotes once more, then answers 503.',
  'charging.lower-count':
    'A worker that proves more tokens than are counted is paid for the lower count.',
  'charging.concurrent':
    'Concurrent requests of one wallet never overdraw it, and every credit is accounted for.',
  'charging.no-withdrawal-by-key':
    'A key can only spend: withdrawing and changing settings need the wallet.',
  'failures.nothing-locked':
    'A request that is refused for its credits or for want of a worker locks nothing.',
  'failures.lock-late':
    'A lock not confirmed in 10 s is a 503, and a lock that lands later is taken back.',
  'failures.failover': 'A worker that fails before the first content is replaced by another.',
  'failures.three-workers': 'No more than three workers are tried for one job.',
  'failures.silent-worker-dropped':
    'A worker that is silent for longer than its prompt allows is dropped if there is another.',
  'failures.worker-failed':
    'A worker that dies, or gives a wrong, missing or empty proof, costs nothing: 500, or an error event.',
  'failures.timeout':
    'No completion within 120 s: 504 when the refund is confirmed, with its signature, and nothing charged.',
  'failures.long-answer':
    'An answer whose text still comes 105 s after its lock is stopped, proven and paid, with the reason length.',
  'failures.client-left-plain':
    'A plain request that its client leaves before the answer began is not charged.',
  'failures.client-left-stream':
    'A stream left after the first content is charged for what was produced.',
  'failures.process-dies':
    'When the API process dies, its jobs are refunded after 120 s by anybody.',
  'failures.ledger-time': 'Deadlines are judged by the ledger’s clock, to the second.',
  'failures.ledger-away': 'With ledger or database away a request is a 503 that is safe to repeat.',
  'failures.abuse': 'Endless unpaid endings or rejected disputes suspend the key.',
  'idempotency.replay':
    'The same Idempotency-Key and body get the same answer again for ten minutes, uncharged and marked.',
  'idempotency.in-use': 'While the first is being answered, its repeat is a 409 with Retry-After.',
  'idempotency.mismatch': 'Another body under the same key is a 422.',
  'idempotency.failed-runs-again':
    'A request that ended without a charge, or that nothing was locked for, runs again.',
  'idempotency.twins':
    'A silent retry gets an earlier answer only where that may have been lost; twins are samples.',
  'idempotency.silent-retries': 'A silent retry of an official client is never charged twice.',
  'idempotency.key-form':
    'A key has 1 to 255 visible characters and is kept for 24 hours, per wallet.',
  'idempotency.kept-sealed': 'What is kept shows neither key, body nor answer.',
  'models.list':
    'The list has each hosted model with tier, prices, workers, latency, size and window.',
  'models.hosted-only':
    'A model without workers is not listed, is shown by its id, and cannot be asked.',
  'models.unknown': 'An unknown model is a 400 in a completion and a 404 when it is looked up.',
  'models.median-latency':
    'The latency shown is the median of ten minutes over the pool, null while nothing was observed.',
  'models.retirement':
    'A model retires at an announced date at least 30 days ahead, and works until then.',
  'models.context-window':
    'Messages above the context window are refused before anything is locked.',
  'models.context-counted-by-worker':
    'Messages that only the worker finds too long end the job without a charge, as a 400.',
  'models.engine': 'An answer of the built-in engine says so in a header.',
  'account.balance':
    'The account shows wallet, available credits, their value, the last purchase and the key’s time.',
  'jobs.object': 'A job shows state, model, charge, worker, times, usage and its ledger record.',
  'jobs.ledger-record':
    'The ledger alone, without the API, confirms lock, proof, charge and payment.',
  'jobs.unknown': 'An unknown job, or one of another wallet, is a 404.',
  'jobs.unmirrored': 'A job that the mirror lacks is read from the ledger.',
  'jobs.list':
    'The list pages with before and after, filters by state and model, 20 by default and 100 at most.',
  'jobs.list-refusals':
    'Unknown cursors and states, and parameters out of range or given twice, are a 400.',
  'jobs.regenerated-key': 'A regenerated key goes on with what its wallet has.',
  'jobs.states':
    'Jobs move between their states as published, and in no other way, for each signer.',
  'jobs.ids': 'Job ids are UUIDs of version 7 and never live twice.',
  'disputes.opened':
    'A different hash within the window opens a dispute, recorded on the ledger, with its hashes, transaction and window.',
  'disputes.equal': 'Equal hashes open none and leave the job as it is.',
  'disputes.window': 'After 60 s of ledger time a dispute is a 422.',
  'disputes.still-settling': 'A dispute sent with the last token waits for the settlement.',
  'disputes.decided':
    'An upheld dispute gives the charge back; a rejected one leaves the job settled.',
  'disputes.expiry': 'A dispute without a verdict within 24 hours expires.',
  'disputes.evidence':
    'Two proofs of one attempt convict the worker, a receipt that differs from the proof the service.',
  'disputes.refusals':
    'Unknown and unsettled jobs, second disputes, too many open ones and malformed hashes are refused by code.',
  'keys.bearer':
    'Every endpoint wants a bearer key; without one the answer is 401 missing_api_key.',
  'keys.unknown': 'An unknown key is 401 invalid_api_key.',
  'keys.suspended': 'A suspended key is 403 key_suspended with the very next request.',
  'keys.revoked-at-once':
    'A revoked key is 401 invalid_api_key with the very next request, on every instance.',
  'keys.form': 'A key is the prefix and 32 letters and digits, shown once and kept as a hash.',
  'keys.one-per-wallet': 'A wallet has one live key; regenerating replaces it in one step.',
  'keys.settings-tab':
    'Keys are made, revoked and regenerated in the web app, not through the API.',
  'webhooks.create':
    'A webhook needs a url and events; the secret is shown at creation, and only one that we made.',
  'webhooks.https-only':
    'Only public https endpoints are taken, and the address is checked again at each connection.',
  'webhooks.duplicate':
    'The same url and events again is a 409 that names the webhook; a wallet has at most 20.',
  'webhooks.list': 'The list shows the wallet’s own webhooks, without secrets.',
  'webhooks.delete': 'A deleted webhook gets nothing more; an unknown one is a 404.',
  'events.subscribed-kinds':
    'A webhook gets the kinds it subscribes to; job and credit events those of its wallet.',
  'events.kinds': 'Each of the ten kinds fires for the ledger event that it stands for, once.',
  'events.envelope': 'The envelope has id, event, time, version and data.',
  'events.data': 'The data of each kind has the published fields and no other.',
  'events.no-status-echo':
    'An upheld dispute is no time-out, and a rejected one no second completion.',
  'events.credit-low':
    'credit.low fires once on crossing below the threshold of 100 or of the wallet’s own.',
  'events.signature':
    'A delivery is signed with the HMAC-SHA256 of its time and raw body under the secret.',
  'events.receiver': 'Our verifier takes genuine deliveries and refuses forged and old ones.',
  'events.rotation': 'During a rotation receivers with either secret accept every delivery.',
  'events.ten-seconds':
    'An answer that is no 2xx, or that takes more than 10 s, is a failed attempt.',
  'events.schedule':
    'Five attempts: at once, then 30 s, 5 min, 30 min and 2 h after the one before.',
  'events.failed':
    'After five failures the webhook is failed; what it missed can be seen and replayed.',
  'events.never-lost':
    'An event is queued with the mirror’s own transaction, and survives the process.',
  'events.finality': 'Events go out when confirmed, or when final where that is set.',
  'events.rebuild-silent': 'A rebuilt mirror announces nothing again.',
  'events.journey': 'A subscribed endpoint hears of a job from its lock to its settlement.',
  'events.settings-tab':
    'Webhooks can be made, and failed deliveries seen and replayed, in the web app.',
  'errors.body': 'Every error has code, message, type, param and a link to its documentation.',
  'errors.documented': 'Every code has an entry that its link leads to.',
  'errors.per-endpoint': 'Each endpoint answers with documented codes and statuses only.',
  'errors.insufficient-credits':
    '402 names what there is, what is needed, the tier, and what would be affordable.',
  'errors.no-workers': '503 for want of workers names the model and how long to wait.',
  'errors.job-headers': 'Errors after a lock name the job and its lock in headers.',
  'errors.should-retry': 'Where repeating silently would only cost time the answer says so.',
  'errors.routes':
    'Unknown paths and methods, those of unsupported features too, are 404 route_not_found.',
  'errors.malformed-http': 'What is no HTTP is answered as a 400 of the usual shape.',
  'errors.limits-of-wallet':
    'A request above the wallet’s limits, or without this service as its spender, is a 403.',
  'errors.order-of-checks':
    'Checks come in this order: address limit, route, key, body, credits, worker, lock.',
  'errors.no-internals': 'An internal error shows no internals.',
  'limits.burst': 'A burst limit per address, an IPv6 /64 as one, answers 429 with Retry-After.',
  'limits.refused-keys': 'Refused keys are limited apart from other requests.',
  'surface.tls':
    'HTTPS by certificate or proxy; plain HTTP beyond loopback only when allowed explicitly.',
  'surface.openapi':
    'The OpenAPI 3.1 document is valid and describes every route and event, with fitting examples.',
  'surface.docs': 'The reference and the guides are readable without script or key.',
  'surface.health': 'Health shows that the process is up, readiness which part is away.',
  'surface.metrics': 'Metrics show each stage of a request, and are not served where clients ask.',
  'surface.access-log':
    'Each request is one log line with its job and without anything that a client wrote.',
  'surface.cors':
    'Browsers may call from configured origins only, with the service’s headers readable.',
  'surface.security-headers':
    'Every answer keeps browsers from framing it, guessing its type, or leaving HTTPS.',
  'versions.api-version':
    'Envelopes carry the version as a date, pinned when the webhook is created.',
  'versions.release': 'The first release of API, package and document is 0.1.0.',
};

/** Those that no test shows yet, and why. */
const OPEN: Readonly<Record<string, string>> = {};

export const rules: readonly Rule[] = Object.entries(RULES).map(([id, rule]) => {
  const open = OPEN[id];
  return open === undefined ? { id, rule } : { id, rule, open };
});
