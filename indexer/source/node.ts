import { connectPooledRpc } from '../../common/net/pooledRpc.ts';
import type { delay } from '../../common/wait.ts';
import { type LedgerNode, RpcError, type RpcOptions } from '../../programs/client/rpc/rpc.ts';
import { FatalError, NodeBehindError, RetryableError } from './errors.ts';

/**
 * JSON-RPC errors of a request that the node does not understand: a retry fails as well. Every other
 * error may pass. Providers have codes of their own for limits, keys and nodes that are behind, and
 * no list of those would stay complete.
 */
const LASTING_CODES = new Set<unknown>([
  -32601, // method not found
  -32602, // invalid parameters
]);

/** Error code: the node has not reached `minContextSlot`. */
const BEHIND_CODE = -32016;

/**
 * The client of a node, whose errors show whether a retry may help. `ask` throws:
 *
 * - FatalError when the node does not understand the request
 * - NodeBehindError when the node has not reached the slot in the request
 * - RetryableError for every other failure
 */
export function connectNode(options: RpcOptions & { url: string }): LedgerNode {
  const rpc = connectPooledRpc(options);
  return {
    async ask(method, parameters, read) {
      try {
        return await rpc.ask(method, parameters, read);
      } catch (error) {
        const { message } = error as Error;
        const Failure = error instanceof RpcError ? failureOf(error.code) : RetryableError;
        throw new Failure(message, { cause: error });
      }
    },
  };
}

function failureOf(code: unknown): typeof RetryableError | typeof FatalError {
  if (code === BEHIND_CODE) return NodeBehindError;
  return LASTING_CODES.has(code) ? FatalError : RetryableError;
}

/** Two slots: nodes of one provider are seldom further apart. The waits add up to 2 s. */
const RETRY_MS = 400;
const RETRIES_MAX = 5;

/**
 * Checks an answer to a request that takes no `minContextSlot`, by the slot that its node names.
 *
 * @throws NodeBehindError
 */
export function checkNodeSlot(context: { readonly slot: number }, slotMin: bigint): void {
  if (BigInt(context.slot) >= slotMin) return;
  throw new NodeBehindError(`The ledger's node is at slot ${context.slot}, behind slot ${slotMin}`);
}

/**
 * Retries while the node is behind: nodes of one address differ by a slot or two.
 *
 * @throws NodeBehindError when it stays behind
 */
export async function retryWhileBehind<Answer>(
  ask: () => Promise<Answer>,
  wait: typeof delay,
): Promise<Answer> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof NodeBehindError) || retries === RETRIES_MAX) throw error;
    }
    await wait(RETRY_MS);
  }
}
