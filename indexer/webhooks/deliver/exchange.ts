import type { IncomingMessage } from 'node:http';
import { addAbortSignal, type Readable } from 'node:stream';
import { AddressRefusedError, type GuardedAgents } from '../../../common/net/addressGuard.ts';
import { post, UNANSWERED } from '../../../common/net/post.ts';

/** One exchange with a receiver, from connecting to the head of its answer. */
export const EXCHANGE_MS_MAX = 10_000;
/** As much of an answer's body as helps its owner; the rest is not read. */
const RESPONSE_BYTES_MAX = 4_096;
/** Counted from the head, so that a body without an end takes little of a wallet's share. */
export const RESPONSE_MS_MAX = 1_000;

/** Node's words for what goes wrong on the way to a receiver. */
const errorsByCode: Readonly<Record<string, AttemptError>> = {
  ENOTFOUND: 'name_not_resolved',
  EAI_AGAIN: 'name_not_resolved',
  ENODATA: 'name_not_resolved',
  ESERVFAIL: 'name_not_resolved',
  ECANCELLED: 'name_not_resolved',
  ECONNREFUSED: 'connection_refused',
  ETIMEDOUT: 'timeout',
  ETIMEOUT: 'timeout',
  ECONNRESET: 'connection_lost',
  [UNANSWERED]: 'connection_reset',
  EPIPE: 'connection_lost',
  EHOSTUNREACH: 'connection_lost',
  ENETUNREACH: 'connection_lost',
};

/**
 * Posts a body once. The head of the answer decides, not what follows it: a receiver that sent a
 * whole 2xx head has the event. Redirects are not followed, so they are failures like any other status.
 *
 * @param agents refuse addresses that are not public
 * @param timeoutMs over connecting and the head together: a receiver that drips is
 *   as bad as a silent one
 * @param responseMs over the body
 * @returns how it went; all that a receiver does is a result, not an error
 */
export async function exchange(
  agents: GuardedAgents,
  message: { url: string; headers: Readonly<Record<string, string>>; body: string },
  timeoutMs: number,
  responseMs = RESPONSE_MS_MAX,
): Promise<AttemptResult> {
  const startedAtMs = performance.now();
  const elapsedMs = () => Math.round(performance.now() - startedAtMs);
  const signal = AbortSignal.timeout(timeoutMs);
  const { url, headers, body } = message;
  try {
    const agent = agents.agentFor(new URL(url));
    const answer = await post(url, { headers, body, signal, agent });
    const durationMs = elapsedMs();
    const { statusCode = 0 } = answer;
    const isAccepted = statusCode >= 200 && statusCode < 300;
    const beginning = await readBeginning(answer, responseMs);
    const response = printable(`${retryAfterOf(answer)}${beginning.toString('utf8')}`);
    return { statusCode, response, error: isAccepted ? null : 'bad_status', durationMs };
  } catch (error) {
    const reason = signal.aborted ? 'timeout' : nameOf(error as Failure);
    return { statusCode: null, response: null, error: reason, durationMs: elapsedMs() };
  }
}

/** What came of a body in its time; a connection that it did not end by then is closed. */
async function readBeginning(body: Readable, ms: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of addAbortSignal(AbortSignal.timeout(ms), body)) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= RESPONSE_BYTES_MAX) break;
    }
  } catch {
    // Cut off, malformed or without an end: what came until then is shown.
  }
  return Buffer.concat(chunks).subarray(0, RESPONSE_BYTES_MAX);
}

const RETRY_AFTER_SHOWN_MAX = 100;

/** The attempts have times of their own, but the owner sees what was asked for. */
function retryAfterOf({ headers }: IncomingMessage): string {
  const asked = headers['retry-after'];
  return asked === undefined ? '' : `Retry-After: ${asked.slice(0, RETRY_AFTER_SHOWN_MAX)}\n`;
}

/** Without control characters, one of which the database would refuse. */
function printable(text: string): string {
  return text.replace(/[^\P{C}\n]/gu, '');
}

/** What went wrong may be wrapped in what it led to. */
interface Failure {
  code?: unknown;
  cause?: Failure;
}

function nameOf(error: Failure): AttemptError {
  for (let failure: Failure | undefined = error; failure; failure = failure.cause) {
    if (failure instanceof AddressRefusedError) return 'address_refused';
    const code = String(failure.code);
    const known = errorsByCode[code];
    if (known) return known;
    if (/CERT|TLS|SSL|SIGNED|VERIFY|EPROTO/.test(code)) return 'tls_failed';
  }
  return 'bad_response';
}

/** Why an attempt failed. One word each, for metrics and for the webhook's owner. */
type AttemptError =
  /** It answered, but not with a 2xx status; redirects are not followed, 101 switches to nothing. */
  | 'bad_status'
  | 'timeout'
  | 'name_not_resolved'
  | 'connection_refused'
  /** It was closed or reset before any byte of an answer, which is no silence. */
  | 'connection_reset'
  /** It was lost in the middle of the answer's head, or there is no way to the host. */
  | 'connection_lost'
  | 'tls_failed'
  /** The URL leads, or has come to lead, to an address that is not public. */
  | 'address_refused'
  | 'bad_response'
  /** The process ended during the exchange. */
  | 'interrupted'
  /** The webhook's secret was sealed under another key than this process has. */
  | 'secret_unreadable';

/** How an attempt ended. */
export interface AttemptResult {
  /** Null: delivered. */
  readonly error: AttemptError | null;
  readonly statusCode: number | null;
  /** Its `Retry-After`, if there is one, and the beginning of its body, printable. */
  readonly response: string | null;
  /** Null when its process died before the end. */
  readonly durationMs: number | null;
}
