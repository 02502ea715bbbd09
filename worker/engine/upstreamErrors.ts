import { describeConnectionFault } from '../../common/net/connectionFault.ts';
import {
  PASSED_FIELDS,
  type PassedField,
  RETRY_AFTER_SECONDS_MAX,
  type ToolField,
} from '../../common/workerProtocol.ts';
import { WorkerError } from '../protocol/errors.ts';
import { asRecord, parseUpstreamChunk, parseUpstreamJson } from './upstreamChunk.ts';

/** An error body has a few lines; the rest of a larger one is not read. */
const BODY_BYTES_MAX = 64 * 1024;

/** Only for these statuses does the body decide the meaning. */
const REFUSED_STATUSES = [400, 413, 422];

const TOO_LARGE = 413;

/** How common servers say that a prompt does not fit the model. */
const CONTEXT_LENGTH = new RegExp(
  [
    'context[_ ]?(length|size|window)|maximum context|exceeds? .*context',
    'input token count|model token limit|range of input length|prompt is too long',
    'inputs` (tokens \\+ `max_new_tokens`|must have less than)|prompt length .*max_num_tokens',
  ].join('|'),
  'i',
);

/** A field that a refusal names by `param`, or by the path of `loc`. */
const NAMED = /["']?(?:param|loc)["']?\s*:\s*("[^"]*"|'[^']*'|[[(][^\])]*[\])])/g;

/** Statuses of servers without capacity; another worker may have some. */
const BUSY_STATUSES: Readonly<Record<number, string>> = {
  429: 'is busy',
  503: 'is busy, or loads its model',
};

/** How servers name the fields in their refusals, where not by the field's own words. */
const OTHER_NAMES: Partial<Record<PassedField, RegExp>> & Record<ToolField, RegExp> = {
  response_format: /response_format|json_schema|json_object|grammar/i,
  reasoning_effort: /reasoning[_.]effort/i,
  chat_template_kwargs: /chat_template_kwargs|enable_thinking/i,
  seed: /\b(random_)?seed\b/i,
  parallel_tool_calls: /parallel_tool_calls/i,
  tool_choice: /tool[_ -]choice/i,
  tools: /\btools?\b|function.?call/i,
  stop: /\bstop([_ ]sequences?)?\b/i,
};

/** In the order in which they are looked for: common words come last. */
const FIELDS: Readonly<Record<string, RegExp>> = {
  ...Object.fromEntries(
    PASSED_FIELDS.filter((field) => !OTHER_NAMES[field]).map((field) => [
      field,
      new RegExp(`\\b${field.replace('_', '[_ ]')}\\b`, 'i'),
    ]),
  ),
  ...OTHER_NAMES,
};

/**
 * The error for an upstream's answer that is no stream: an error status, or an error behind a 200. It
 * never contains the body, which may quote the prompt.
 *
 * @param chat what was asked: only a field that it has can have been refused
 * @param bodyWaitMs the status is known already, and the job needs another worker soon
 */
export async function asUpstreamRefusal(
  response: Response,
  chat: Record<string, unknown>,
  bodyWaitMs: number,
): Promise<WorkerError> {
  const { ok, status, headers } = response;
  if (ok) {
    const body = await readStart(response, bodyWaitMs);
    if (parseUpstreamChunk(body) === 'error') return asUpstreamError(body, chat, headers);
    return new WorkerError('upstream_failed', 'The upstream did not stream');
  }
  if (REFUSED_STATUSES.includes(status)) {
    return asRefusal(await readStart(response, bodyWaitMs), chat, response);
  }
  const isOpen =
    status in BUSY_STATUSES && parseRetryAfter(headers.get('retry-after')) === undefined;
  // It is busy by its status alone, also where its body breaks off.
  if (isOpen)
    return asUpstreamStatus(response, await readStart(response, bodyWaitMs).catch(() => ''));
  await response.body?.cancel();
  return asUpstreamStatus(response);
}

/**
 * The error for an error that an upstream sends behind a 200: its fields say which status it means.
 *
 * @param headers of that 200, which may say when to ask again
 */
export function asUpstreamError(
  data: string,
  chat: Record<string, unknown>,
  headers: Response['headers'],
): WorkerError {
  const status = statusOf(data);
  if (status !== undefined || CONTEXT_LENGTH.test(data)) {
    return asRefusal(data, chat, { status: status ?? 0, headers });
  }
  return new WorkerError('upstream_failed', 'The upstream sent an error in place of its answer');
}

function asRefusal(
  body: string,
  chat: Record<string, unknown>,
  answer: Pick<Response, 'status' | 'headers'>,
): WorkerError {
  if (CONTEXT_LENGTH.test(body)) return tooLong();
  if (!REFUSED_STATUSES.includes(answer.status)) return asUpstreamStatus(answer, body);
  const sent = Object.entries(FIELDS).filter(([field]) => chat[field] !== undefined);
  // A field that is named as such goes before one that is only mentioned.
  const names = [...body.matchAll(NAMED)].map(([, name = '']) => name).join(' ');
  const [first] = [names, body].flatMap((text) => sent.filter(([, words]) => words.test(text)));
  if (first) return parameterRefused(first[0]);
  if (answer.status === TOO_LARGE) return asUpstreamStatus(answer);
  return new WorkerError('request_refused', "The model's server refuses the request");
}

/** Where an error has its status, as a number or a word: the most exact one first. */
const STATUS_FIELDS = ['status_code', 'http_status_code', 'code', 'status', 'type', 'error_type'];
const STATUS_OF_WORD: readonly [RegExp, number][] = [
  [/rate.?limit|too.?many.?requests|limit.?requests|resource.?exhausted|throttl/i, 429],
  [/overloaded|unavailable/i, 503],
  [/bad.?request|invalid.?(request|argument|parameter)|unprocessable|validation/i, 400],
];

/** The HTTP status that an error without one of its own names; undefined where it names none. */
function statusOf(data: string): number | undefined {
  const json = parseUpstreamJson(data);
  const [choice] = Array.isArray(json?.choices) ? json.choices : [];
  const fields = { ...json, ...asRecord(asRecord(choice).error), ...asRecord(json?.error) };
  const values = STATUS_FIELDS.map((field) => fields[field] ?? '');
  const status = values.map(Number).find((number) => number >= 400 && number < 600);
  const ofWord = (word: unknown) => STATUS_OF_WORD.find(([words]) => words.test(String(word)))?.[1];
  return status ?? values.map(ofWord).find(Boolean);
}

/**
 * When to ask again, as bodies say it: `retry_after`, `retry_after_seconds`, or the `retryDelay` of Google's
 * errors. What a text quotes has its marks escaped.
 */
const RETRY_AFTER = /"retry[-_]?(?:after|delay)(?:_seconds)?"\s*:\s*"?(\d+(?:\.\d+)?)s?["\s,}]/i;

/** The error for a status alone, with the seconds of the server's `Retry-After`, or else of the body. */
export function asUpstreamStatus(
  { status, headers }: Pick<Response, 'status' | 'headers'>,
  body = '',
): WorkerError {
  const busy = BUSY_STATUSES[status];
  if (busy === undefined)
    return new WorkerError('upstream_failed', `The upstream answered with status ${status}`);
  const retryAfterSeconds =
    parseRetryAfter(headers.get('retry-after')) ?? parseRetryAfter(RETRY_AFTER.exec(body)?.[1]);
  return new WorkerError('no_free_slot', `The upstream ${busy}: status ${status}`, {
    retryAfterSeconds,
  });
}

/** Seconds or a date, as whole seconds from 1 to 60; undefined when it is neither. */
function parseRetryAfter(header: string | null | undefined): number | undefined {
  if (header == null) return undefined;
  const isNumber = /^\d+(\.\d+)?$/.test(header.trim());
  const seconds = isNumber ? Number(header) : (Date.parse(header) - Date.now()) / 1_000;
  if (Number.isNaN(seconds)) return undefined;
  return Math.min(Math.max(Math.ceil(seconds), 1), RETRY_AFTER_SECONDS_MAX);
}

/** The error for a field that the engine or its upstream does not take. */
export function parameterRefused(param: string): WorkerError {
  return new WorkerError('parameter_refused', `The model's server refuses ${param}`, { param });
}

function tooLong(): WorkerError {
  return new WorkerError('context_length_exceeded', 'The conversation is too long for the model');
}

async function readStart(response: Response, waitMs: number): Promise<string> {
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  const timer = setTimeout(() => void reader?.cancel(), waitMs);
  let text = '';
  try {
    while (text.length < BODY_BYTES_MAX) {
      const bytes = (await reader?.read())?.value;
      if (bytes === undefined) break;
      text += decoder.decode(bytes, { stream: true });
    }
    return text;
  } finally {
    clearTimeout(timer);
    await reader?.cancel();
  }
}

/** The error for a failed connection. */
export function asUpstreamFailure(error: unknown): WorkerError {
  if (error instanceof WorkerError) return error;
  const reason = describeConnectionFault(error);
  return new WorkerError('upstream_failed', `The connection to the upstream failed: ${reason}`);
}
