import { once } from 'node:events';
import type { Batcher, LedgerClock, Outcome } from '../../programs/client/sender/index.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Database } from '../../runtime/postgres.ts';
import { delay } from '../../runtime/wait.ts';
import { classify, FatalError } from '../errors.ts';
import type { Duty, Task, TaskResult } from './duty.ts';
import { createRests } from './rests.ts';

/** Does one of the duties that the program leaves to anybody, so that it gets done. */
export interface Keeper {
  /** Works until `signal` aborts. @throws FatalError */
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
  onResult: (duty: string, result: TaskResult) => void;
}): Keeper {
  const { duty, database, batcher, clock, logger, onResult } = options;
  const underWay = new Set<string>();
  const rests = createRests();

  async function work({ address, instruction }: Task): Promise<void> {
    underWay.add(address);
    try {
      const instructions = [instruction];
      conclude(address, await batcher.add({ key: address, instructions, signers: [] }));
    } catch (error) {
      const failure = classify(error);
      if (failure instanceof FatalError) throw failure;
      // Still due, so the next round finds it again.
      const reason = failure.message;
      logger.warn({ msg: 'Could not try a duty', duty: duty.name, address, reason });
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
    onResult(duty.name, result);
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
      const failure = Promise.withResolvers<never>();
      // Whoever still looks gets the rejection; after the last round nobody does.
      failure.promise.catch(() => undefined);
      if (!signal.aborted) await Promise.race([clock.ready, once(signal, 'abort')]);
      while (!signal.aborted) {
        for (const task of await duty.find(database, clock.nowSeconds() - MARGIN_SECONDS)) {
          if (underWay.has(task.address) || rests.isResting(task.address)) continue;
          // Not waited for: one that takes long must not hold up the others.
          work(task).catch(failure.reject);
        }
        await Promise.race([delay(ROUND_INTERVAL_MS, signal), failure.promise]);
      }
    },
  };
}
