import { WorkerError } from '../errors.ts';

/** An error body is a few lines; the rest of a larger one is not read. */
const BODY_BYTES_MAX = 64 * 1024;
/** The status is known by then, and the job needs another worker. */
const BODY_WAIT_MS = 2_000;

/** Of these alone the body decides what they mean. */
const REFUSED_STATUSES = [400, 413, 422];

/** How common servers say that prompt and answer do not fit the model. */
const CONTEXT_LENGTH = /context[_ ](length|size|window)|maximum context|exceeds? .*context/i;

/** How servers say that they have no place now; another worker may have one. */
const BUSY_STATUSES = [429, 503];

/** What an upstream's error status means for the caller. Its words stay here: they may quote the prompt. */
export async function asUpstreamRefusal(response: Response): Promise<WorkerError> {
  if (REFUSED_STATUSES.includes(response.status)) {
    if (CONTEXT_LENGTH.test(await readStart(response))) return tooLong();
  } else {
    await response.body?.cancel();
  }
  if (BUSY_STATUSES.includes(response.status)) {
    return new WorkerError('no_free_slot', `The upstream is busy: status ${response.status}`);
  }
  return new WorkerError('upstream_failed', `The upstream answered with status ${response.status}`);
}

/** What an upstream says in its stream when it cannot go on, or cannot even begin. */
export function asUpstreamError(data: string): WorkerError {
  if (CONTEXT_LENGTH.test(data)) return tooLong();
  return new WorkerError('upstream_failed', 'The upstream sent an error in place of its answer');
}

function tooLong(): WorkerError {
  return new WorkerError('context_length_exceeded', 'The conversation is too long for the model');
}

async function readStart(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  const timer = setTimeout(() => void reader?.cancel(), BODY_WAIT_MS);
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

/** A connection that failed or broke off. A parser's error holds the answer's text: only its name stays. */
export function asUpstreamFailure(error: unknown): WorkerError {
  if (error instanceof WorkerError) return error;
  const { name, cause } = error instanceof Error ? error : { name: 'unknown', cause: undefined };
  const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : name;
  return new WorkerError('upstream_failed', `The connection to the upstream failed: ${reason}`);
}
