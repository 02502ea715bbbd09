import type { Dispatcher } from 'undici';
import { AddressRefusedError, requestWithin } from '../../../common/net/addressGuard.ts';

/** One exchange with a receiver, from connecting to the end of its answer. */
export const EXCHANGE_MS_MAX = 10_000;
/** As much of an answer as helps its owner; the rest is not read. */
const RESPONSE_BYTES_MAX = 4_096;

/** Node's and undici's words for what goes wrong on the way to a receiver. */
const errorsByCode: Readonly<Record<string, AttemptError>> = {
  ENOTFOUND: 'name_not_resolved',
  EAI_AGAIN: 'name_not_resolved',
  ENODATA: 'name_not_resolved',
  ESERVFAIL: 'name_not_resolved',
  ECANCELLED: 'name_not_resolved',
  ECONNREFUSED: 'connection_refused',
  ETIMEDOUT: 'timeout',
  ETIMEOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  ECONNRESET: 'connection_lost',
  EPIPE: 'connection_lost',
  EHOSTUNREACH: 'connection_lost',
  ENETUNREACH: 'connection_lost',
  UND_ERR_SOCKET: 'connection_lost',
};

/**
 * Posts a body once. Redirects are not followed, so they are failures like any other status.
 *
 * @param dispatcher refuses addresses that are not public
 * @param timeoutMs over connecting, headers and body together: whoever drips is as bad as whoever is
 *   silent
 * @returns how it went; everything that a receiver can do is an outcome, not an error
 */
export async function exchange(
  dispatcher: Dispatcher,
  message: { url: string; headers: Readonly<Record<string, string>>; body: string },
  timeoutMs: number,
): Promise<Outcome> {
  const startedAtMs = performance.now();
  const ended = (outcome: Omit<Outcome, 'durationMs'>): Outcome => ({
    ...outcome,
    durationMs: Math.round(performance.now() - startedAtMs),
  });
  const signal = AbortSignal.timeout(timeoutMs);
  let statusCode: number | null = null;
  try {
    const { url, headers, body } = message;
    const answer = await requestWithin(url, { method: 'POST', dispatcher, headers, body, signal });
    statusCode = answer.statusCode;
    const response = printable(await readBeginning(answer.body));
    const isAccepted = statusCode >= 200 && statusCode < 300;
    return ended({ statusCode, response, error: isAccepted ? null : 'bad_status' });
  } catch (error) {
    return ended({
      statusCode,
      response: null,
      error: signal.aborted ? 'timeout' : nameOf(error as Failure),
    });
  }
}

async function readBeginning(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop closes the connection, so that what is left is not received either.
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= RESPONSE_BYTES_MAX) break;
  }
  return Buffer.concat(chunks).subarray(0, RESPONSE_BYTES_MAX);
}

/** Without control characters, one of which the database would refuse. */
function printable(bytes: Buffer): string {
  return bytes.toString('utf8').replace(/[^\P{C}\n]/gu, '');
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
  /** It answered, but not with a 2xx status; redirects are not followed. */
  | 'bad_status'
  | 'timeout'
  | 'name_not_resolved'
  | 'connection_refused'
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
export interface Outcome {
  /** Null: delivered. */
  readonly error: AttemptError | null;
  readonly statusCode: number | null;
  /** The beginning of the answer's body, printable. */
  readonly response: string | null;
  /** Null when nobody was there at the end. */
  readonly durationMs: number | null;
}
