import type { Batcher, LedgerClock, Outcome } from '../../programs/client/sender/index.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Database } from '../../runtime/postgres.ts';
import { delay } from '../../runtime/wait.ts';
import { classify, FatalError } from '../errors.ts';
import type { Duty, Task } from './duty.ts';
import { createRests } from './rests.ts';

/** Does one of the duties that the program leaves to anybody, so that it gets done. */
export interface Keeper {
  /** Works until `signal` aborts. @throws FatalError */
  run(signal: AbortSignal): Promise<void>;
}

const ROUND_INTERVAL_MS = 500;
/** Time for the mirror to learn of what was done. */
const REST_DONE_MS = 10_000;
/** A refusal has a cause that seldom passes at once. */
const REST_REFUSED_MS = 15_000;
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
  onOutcome: (duty: string, result: 'done' | 'refused') => void;
}): Keeper {
  const { duty, database, batcher, clock, logger, onOutcome } = options;
  const underWay = new Set<string>();
  const rests = createRests();

  async function work({ address, instruction }: Task): Promise<void> {
    underWay.add(address);
    try {
      conclude(
        address,
        await batcher.add({ key: address, instructions: [instruction], signers: [] }),
      );
    } catch (error) {
      const failure = classify(error);
      if (failure instanceof FatalError) throw failure;
      // Still due, so the next round finds it again.
      logger.warn({
        msg: 'Could not do a duty',
        duty: duty.name,
        address,
        reason: failure.message,
      });
      rests.start(address, REST_REFUSED_MS);
    } finally {
      underWay.delete(address);
    }
  }

  function conclude(address: string, outcome: Outcome): void {
    // What has expired is found again by the next round, if it is still due.
    if (outcome.status === 'expired') return;
    const isRefused =
      outcome.status === 'rejected' && !duty.doneErrors.includes(outcome.error.name);
    rests.start(address, isRefused ? REST_REFUSED_MS : REST_DONE_MS);
    onOutcome(duty.name, isRefused ? 'refused' : 'done');
    const fields = { duty: duty.name, address, signature: outcome.signature };
    if (isRefused) {
      logger.warn({ msg: 'Was refused a duty', ...fields, reason: outcome.error.name });
    } else {
      logger.info({ msg: 'Did a duty', ...fields });
    }
  }

  return {
    async run(signal) {
      const failure = Promise.withResolvers<never>();
      await clock.ready;
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
