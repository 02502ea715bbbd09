import { connectPooledRpc } from '../../common/net/pooledRpc.ts';
import type { delay } from '../../common/wait.ts';
import { RpcError } from '../../programs/client/rpc/answers.ts';
import type { LedgerNode, RpcOptions } from '../../programs/client/rpc/rpc.ts';
import { FatalError, NodeBehindError, RetryableError } from './errors.ts';

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
 * The client of a node, whose errors say whether to ask again: `ask` throws FatalError when the node
 * does not understand the question, NodeBehindError when it is behind the slot in it, and
 * RetryableError for every other answer that is none.
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
 * For an answer to a question that cannot name a slot (`minContextSlot`), and tells instead which one
 * its node had reached.
 *
 * @throws NodeBehindError
 */
export function checkNodeSlot(context: { readonly slot: number }, slotMin: bigint): void {
  if (BigInt(context.slot) >= slotMin) return;
  throw new NodeBehindError(`The ledger's node is at slot ${context.slot}, behind slot ${slotMin}`);
}

/**
 * Asks again while the node is behind, since nodes behind one address always are by a slot or two.
 *
 * @throws NodeBehindError when it stays behind
 */
export async function untilReached<Answer>(
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
