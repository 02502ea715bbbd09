import { once } from 'node:events';
import type { Logger } from '../../common/logger.ts';
import type { Database } from '../../common/postgres.ts';
import { delay } from '../../common/wait.ts';
import type { Batcher, LedgerClock, Outcome } from '../../programs/client/sender/index.ts';
import type { IndexerMetrics } from '../metrics.ts';
import type { Duty, Task, TaskResult } from './duty.ts';
import { createRests } from './rests.ts';

/** Does one of the duties that the program leaves to anybody, so that it gets done. */
export interface Keeper {
  /** Works until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

const ROUND_INTERVAL_MS = 500;
/** Time for the mirror to learn of what was done. */
const REST_DONE_MS = 10_000;
/** Between two readings of the ledger's clock its time is an estimate that may be a second ahead. */
const MARGIN_SECONDS = 1n;

/**
 * Looks for what is due in the mirror, by the ledger's time, and sends it in batches. Others may be
 * faster: that the job is done counts, not by whom.
 */
export function createKeeper(options: {
  duty: Duty;
  database: Database;
  batcher: Batcher;
  clock: LedgerClock;
  logger: Logger;
  metrics: Pick<IndexerMetrics, 'duty' | 'due'>;
  nowMs: () => number;
}): Keeper {
  const { duty, database, batcher, clock, logger, metrics, nowMs } = options;
  const underWay = new Set<string>();
  const rests = createRests(nowMs);

  async function work({ address, instruction }: Task): Promise<void> {
    underWay.add(address);
    try {
      const instructions = [instruction];
      conclude(address, await batcher.add({ key: address, instructions, signers: [] }));
    } catch (error) {
      // Still due, so it is tried again: whatever is wrong with one must not end the others.
      const reason = (error as Error).message;
      logger.warn({ msg: 'Could not try a duty', duty: duty.name, address, reason });
      metrics.duty(duty.name, 'failed');
      rests.start(address, duty.retryMs);
    } finally {
      underWay.delete(address);
    }
  }

  function conclude(address: string, outcome: Outcome): void {
    // What has expired is found again by the next round, if it is still due.
    if (outcome.status === 'expired') return;
    const reason = outcome.status === 'rejected' ? outcome.error.name : undefined;
    const result = resultOf(reason);
    rests.start(address, result === 'refused' ? duty.retryMs : REST_DONE_MS);
    metrics.duty(duty.name, result);
    const level = result === 'refused' ? 'warn' : 'info';
    const { signature } = outcome;
    logger[level]({ msg: 'Tried a duty', duty: duty.name, result, address, signature, reason });
  }

  function resultOf(refusal: string | undefined): TaskResult {
    if (refusal === undefined) return 'done';
    return duty.supersededBy.includes(refusal) ? 'superseded' : 'refused';
  }

  return {
    async run(signal) {
      if (!signal.aborted) await Promise.race([clock.ready, once(signal, 'abort')]);
      while (!signal.aborted) {
        const due = await duty.find(database, {
          nowSeconds: clock.nowSeconds() - MARGIN_SECONDS,
          exceptAddresses: [...underWay, ...rests.keys()],
        });
        metrics.due(duty.name, due.length + underWay.size);
        for (const task of due) {
          // Not waited for: one that takes long must not hold up the others.
          void work(task);
        }
        await delay(ROUND_INTERVAL_MS, signal);
      }
    },
  };
}
