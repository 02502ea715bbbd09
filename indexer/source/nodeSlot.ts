import type { delay } from '../../runtime/wait.ts';
import { NodeBehindError } from '../errors.ts';

/** About a slot: nodes of one provider are seldom further apart. The waits add up to 2 s. */
const RETRY_MS = 400;
const RETRIES_MAX = 5;

/** The setting of a question by which a node refuses it while it is behind a slot. */
type NodeSlot = { readonly minContextSlot?: number };

/**
 * What makes a node refuse to list anything before it has reached a slot. The embedded ledger takes
 * that slot for the oldest one to list, and would leave out all that is older; being one node, it is
 * never behind itself, and is not told.
 *
 * @param readVersion asks the node for the software that it runs; once
 */
export function createNodeSlot(
  readVersion: () => Promise<object>,
): (slotMin: bigint | undefined) => Promise<NodeSlot> {
  let isEmbedded: boolean | undefined;
  return async (slotMin) => {
    if (slotMin === undefined) return {};
    isEmbedded ??= 'surfnet-version' in (await readVersion());
    return isEmbedded ? {} : { minContextSlot: Number(slotMin) };
  };
}

/**
 * For an answer that has no such setting, and tells instead which slot its node had reached.
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
