import type { delay } from '../../common/wait.ts';
import { NodeBehindError } from '../errors.ts';

/** About a slot: nodes of one provider are seldom further apart. The waits add up to 2 s. */
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
