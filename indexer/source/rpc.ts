import { FatalError, RetryableError } from '../errors.ts';

/** Asks a ledger's node one question over JSON-RPC. */
export type Rpc = <Result>(method: string, parameters: readonly unknown[]) => Promise<Result>;

/** A node that takes longer than this to answer is taken for dead. */
const TIMEOUT_MS = 10_000;

/** JSON-RPC errors of a node that is behind, overloaded or unwell; any other is our mistake. */
const PASSING_CODES = new Set([
  -32004, // block not available
  -32005, // node unhealthy
  -32014, // block status not yet available
  -32016, // minimum context slot not reached
  -32603, // internal error
]);

/**
 * web3.js is not used here, because it refuses transactions of versions that it does not know, and
 * a stranger's transaction must never stop the mirror.
 *
 * @returns a function that throws RetryableError when the node cannot answer now, and FatalError
 *   when it refuses the question
 */
export function createRpc(url: string): Rpc {
  return async (method, parameters) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: parameters });
    const { result, error } = await post(url, body);
    if (error === undefined) return result as never;
    const Failure = PASSING_CODES.has(error.code) ? RetryableError : FatalError;
    throw new Failure(`The ledger's node refused ${method}: ${error.message} (${error.code})`);
  };
}

interface Answer {
  result?: unknown;
  error?: { code: number; message: string };
}

async function post(url: string, body: string): Promise<Answer> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    text = await response.text();
  } catch (error) {
    throw new RetryableError("The ledger's node did not answer", { cause: error });
  }
  if (response.status === 429 || response.status >= 500) {
    throw new RetryableError(`The ledger's node answered with status ${response.status}`);
  }
  if (!response.ok) {
    throw new FatalError(`The ledger's node answered with status ${response.status}`);
  }
  return JSON.parse(text) as Answer;
}
