import { getAlpenglowSlot } from '../../programs/client/rpc/methods.ts';
import { type Rpc, RpcError } from '../../programs/client/rpc/rpc.ts';
import type { SenderCommitment } from '../../programs/client/sender/confirmer.ts';
import type { Logger } from '../logger.ts';
import { delay, systemTime, type Time, within } from '../wait.ts';

/** How sure the ledger has to be of what a process acts on. */
export type Commitment = SenderCommitment;

/** A node that is away is asked again, and for no longer than this. */
const WAIT_MS = 3_000;
const RETRY_MS = 100;

/**
 * How sure the ledger has to be: as SVC_COMMITMENT says. Without it, `finalized` on a ledger with
 * Alpenglow, where a block is final when it confirms. Elsewhere `confirmed`, since a block is final
 * only 32 slots later. One log line has the choice and its reason.
 *
 * Processes with nodes of different versions may choose differently. They still act on the same
 * blocks, since a ledger with Alpenglow confirms only what is final.
 */
export async function chooseCommitment(options: {
  chosen: Commitment | undefined;
  rpc: Rpc;
  logger: Pick<Logger, 'info'>;
  time?: Time;
}): Promise<Commitment> {
  const { chosen, rpc, logger, time = systemTime } = options;
  const [commitment, because] =
    chosen === undefined
      ? await askLedger(rpc, time)
      : ([chosen, 'SVC_COMMITMENT says so'] as const);
  logger.info({ msg: 'Chose how sure the ledger has to be', commitment, because });
  return commitment;
}

async function askLedger(rpc: Rpc, time: Time): Promise<readonly [Commitment, string]> {
  try {
    const slot = await askAtStart(() => getAlpenglowSlot(rpc), time);
    if (slot === undefined) return ['confirmed', 'the node did not say whether it has Alpenglow'];
    if (slot === null) return ['confirmed', 'the ledger does not have Alpenglow yet'];
    return ['finalized', `the ledger has had Alpenglow since slot ${slot}`];
  } catch {
    return ['confirmed', 'the node does not know of Alpenglow'];
  }
}

/**
 * A node's answer to a question that a process asks once.
 *
 * @returns undefined when it does not answer for three seconds
 * @throws RpcError when it refuses the question
 */
export async function askAtStart<Answer>(
  ask: () => Promise<Answer>,
  time: Time,
): Promise<Answer | undefined> {
  const ending = new AbortController();
  try {
    return await within(WAIT_MS, askUntilAnswered(ask, ending.signal, time), time);
  } finally {
    ending.abort();
  }
}

async function askUntilAnswered<Answer>(
  ask: () => Promise<Answer>,
  signal: AbortSignal,
  time: Time,
): Promise<Answer | undefined> {
  while (!signal.aborted) {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof RpcError) throw error;
      await delay(RETRY_MS, signal, time);
    }
  }
  return undefined;
}
