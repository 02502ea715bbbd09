import { FatalError, NodeBehindError, RetryableError } from '../errors.ts';

/** Asks a ledger's node one question over JSON-RPC. */
export type Rpc = <Result>(method: string, parameters: readonly unknown[]) => Promise<Result>;

/** A node that takes longer than this to answer is taken for dead. */
const TIMEOUT_MS = 10_000;

/**
 * JSON-RPC errors by which a node says that it does not understand the question. Asked again, it
 * would not either. Every other one may pass: providers have codes of their own for limits, keys
 * and nodes that are behind, and no list of those would stay complete.
 */
const LASTING_CODES = new Set<unknown>([
  -32601, // method not found
  -32602, // invalid parameters
]);

/** By which it says that it has not reached the slot that it was to reach first. */
const BEHIND_CODE = -32016;

/**
 * web3.js is not used here, because it refuses transactions of versions that it does not know, and
 * a stranger's transaction must never stop the mirror.
 *
 * @param ending aborts when no answer is waited for any more; none is asked for then
 * @returns a function that throws FatalError when the node does not understand the question,
 *   NodeBehindError when it is behind the slot in it, and RetryableError for every other answer that
 *   is none: a page of HTML, and any HTTP status
 */
export function createRpc(url: string, ending?: AbortSignal): Rpc {
  return async (method, parameters) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: parameters });
    const { status, answer } = await post(url, body, ending);
    const error = answer?.error;
    if (error) {
      const Failure = failureOf(error.code);
      const { message = 'no reason given', code = `status ${status}` } = error;
      throw new Failure(`The ledger's node refused ${method}: ${message} (${code})`);
    }
    if (status !== 200) {
      throw new RetryableError(`The ledger's node answered ${method} with status ${status}`);
    }
    if (answer?.result === undefined) {
      throw new RetryableError(`The ledger's node answered ${method} with something else`);
    }
    return answer.result as never;
  };
}

function failureOf(code: unknown): typeof RetryableError | typeof FatalError {
  if (code === BEHIND_CODE) return NodeBehindError;
  return LASTING_CODES.has(code) ? FatalError : RetryableError;
}

/** As much of an answer's form as whatever stands before a node may leave intact. */
interface Answer {
  result?: unknown;
  error?: { code?: unknown; message?: unknown } | null;
}

/** @returns the answer; undefined when it is no JSON, as of a proxy that answers for the node */
async function post(
  url: string,
  body: string,
  ending: AbortSignal | undefined,
): Promise<{ status: number; answer: Answer | undefined }> {
  const late = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      signal: ending ? AbortSignal.any([ending, late]) : late,
    });
    return { status: response.status, answer: parse(await response.text()) };
  } catch (error) {
    throw new RetryableError("The ledger's node did not answer", { cause: error });
  }
}

function parse(text: string): Answer | undefined {
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}
