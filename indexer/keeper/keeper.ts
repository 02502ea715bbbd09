import { once } from 'node:events';
import type { TransactionInstruction } from '@solana/web3.js';
import type { Logger } from '../../common/logger.ts';
import type { Database } from '../../common/postgres.ts';
import { delay } from '../../common/wait.ts';
import type {
  Batcher,
  InstructionCost,
  LedgerClock,
  SendResult,
} from '../../programs/client/sender/index.ts';
import type { IndexerMetrics, TaskResult } from '../telemetry/metrics.ts';

/** One thing to do on the ledger, for which the program asks no role. */
interface Task {
  /** The account it is about. */
  readonly address: string;
  readonly instruction: TransactionInstruction;
}

/** A kind of thing that the keeper does. */
export interface Duty {
  /** As in logs and metrics. */
  readonly name: string;
  /** Of each task. */
  readonly cost: InstructionCost;
  /** How many share a transaction, where that is less than what fits. */
  readonly tasksMax?: number;
  /** The program's errors for what another process has done before. */
  readonly supersededBy: readonly string[];
  /** When to retry what was refused for any other reason. */
  readonly retryMs: number;
  /** What is due: at most `TASKS_MAX`, the longest due first. */
  find(database: Database, query: DueQuery): Promise<Task[]>;
}

interface DueQuery {
  /** The ledger's time. */
  readonly nowSeconds: bigint;
  /** Left out: otherwise tasks that are refused again and again would hide all others. */
  readonly exceptAddresses: readonly string[];
}

/** So many tasks of a kind are looked at in one round. */
export const TASKS_MAX = 200;

/** Sends what is due of one of the duties that the program leaves to all. */
export interface Keeper {
  /** Works until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

const ROUND_INTERVAL_MS = 500;
/** Time for the mirror to apply what was done. */
const COOLDOWN_DONE_MS = 10_000;
/** Between two readings of the ledger's clock its time is an estimate that may be a second ahead. */
const MARGIN_SECONDS = 1n;

interface Options {
  readonly duty: Duty;
  readonly database: Database;
  readonly batcher: Batcher;
  readonly clock: LedgerClock;
  readonly logger: Logger;
  readonly metrics: Pick<IndexerMetrics, 'duty' | 'due'>;
  readonly nowMs: () => number;
}

/** Looks for what is due in the mirror, by the ledger's time, and sends it in batches. */
export function createKeeper(options: Options): Keeper {
  const { duty, database, batcher, clock, logger, metrics, nowMs } = options;
  const sending = new Set<string>();
  const cooldowns = createCooldowns(nowMs);

  async function work({ address, instruction }: Task): Promise<void> {
    sending.add(address);
    try {
      const sending = { instructions: [instruction], costs: [duty.cost], signers: [] };
      conclude(address, await batcher.add({ key: address, ...sending }));
    } catch (error) {
      // Still due, so it is tried again: an error in one task must not end the others.
      const reason = (error as Error).message;
      logger.warn({ msg: 'Could not try a duty', duty: duty.name, address, reason });
      metrics.duty(duty.name, 'failed');
      cooldowns.start(address, duty.retryMs);
    } finally {
      sending.delete(address);
    }
  }

  function conclude(address: string, outcome: SendResult): void {
    // The next round finds an expired one again, if it is still due.
    if (outcome.status === 'expired') return;
    const reason = outcome.status === 'failed' ? outcome.error.name : undefined;
    const result = resultOf(duty, reason);
    cooldowns.start(address, result === 'refused' ? duty.retryMs : COOLDOWN_DONE_MS);
    metrics.duty(duty.name, result);
    const level = result === 'refused' ? 'warn' : 'info';
    const { signature } = outcome;
    logger[level]({ msg: 'Tried a duty', duty: duty.name, result, address, signature, reason });
  }

  return {
    async run(signal) {
      if (!signal.aborted) await Promise.race([clock.ready, once(signal, 'abort')]);
      while (!signal.aborted) {
        const due = await duty.find(database, {
          nowSeconds: clock.nowSeconds() - MARGIN_SECONDS,
          exceptAddresses: [...sending, ...cooldowns.keys()],
        });
        // Another process may lead by now, and does them as well.
        if (signal.aborted) return;
        metrics.due(duty.name, due.length + sending.size);
        // Without awaiting them: one that takes long must not hold up the others.
        for (const task of due) void work(task);
        await delay(ROUND_INTERVAL_MS, signal);
      }
    },
  };
}

function resultOf(duty: Duty, refusal: string | undefined): TaskResult {
  if (refusal === undefined) return 'done';
  return duty.supersededBy.includes(refusal) ? 'superseded' : 'refused';
}

/** Remembers which addresses to leave alone for a while. */
function createCooldowns(nowMs: () => number) {
  const untilMs = new Map<string, number>();
  return {
    start: (key: string, durationMs: number) => void untilMs.set(key, nowMs() + durationMs),
    /** Addresses that cool down now. */
    keys(): string[] {
      const now = nowMs();
      for (const [key, until] of untilMs) if (until <= now) untilMs.delete(key);
      return [...untilMs.keys()];
    },
  };
}
