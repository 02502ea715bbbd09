import type { Logger } from '../../runtime/logger.ts';
import type { Database } from '../../runtime/postgres.ts';
import { delay } from '../../runtime/wait.ts';
import { selectEligibleWorkers, selectFirstTokens, type WorkerRow } from '../statements/workers.ts';
import { type KnownWorker, newcomer, unprobed } from './knownWorker.ts';
import { retryAfterSeconds } from './retryAfter.ts';
import { createSlots, type Slots } from './slots.ts';
import { PROBE_INTERVAL_MS, type WorkerHealth } from './workerHealth.ts';

/** The pool of workers: who may be asked, who answers, and who has a free slot. */
export interface WorkerDirectory {
  /** Reads workers and probes them until `close`. Resolves after the first round. */
  start(): Promise<void>;
  close(): Promise<void>;
  /** Eligible workers that answered a probe in time. */
  answering(): KnownWorker[];
  /** Those of them that host the model. */
  active(modelAddress: string): KnownWorker[];
  /** Whole seconds after which a request that found no slot may find one. */
  retryAfterSeconds(modelAddress: string): number;
  reserve: Slots['reserve'];
}

/** How far the pool may be behind the mirror: a worker that leaves is asked that long at most. */
const READ_INTERVAL_MS = 1_000;
/** A worker whose last answer is older is not offered work. */
const ANSWER_AGE_MAX_MS = 30_000;

/** @param options.random in [0, 1), for the choice among workers */
export function createWorkerDirectory(options: {
  database: Database;
  logger: Logger;
  probe: (worker: WorkerRow) => Promise<WorkerHealth | undefined>;
  nowMs: () => number;
  random?: () => number;
}): WorkerDirectory {
  const { database, logger, probe, nowMs, random = Math.random } = options;
  const workers = new Map<string, KnownWorker>();
  const closing = new AbortController();
  let loop: Promise<void> | undefined;

  const eligible = (): KnownWorker[] => [...workers.values()].filter((one) => one.isEligible);
  const hosting = (pool: KnownWorker[], modelAddress: string): KnownWorker[] =>
    pool.filter(({ models }) => models.includes(modelAddress));

  function answering(): KnownWorker[] {
    const oldest = nowMs() - ANSWER_AGE_MAX_MS;
    return eligible().filter(({ answeredAtMs }) => answeredAtMs >= oldest);
  }

  const active = (modelAddress: string): KnownWorker[] => hosting(answering(), modelAddress);
  const slots = createSlots({ candidates: active, nowMs, random });

  async function readWorkers(): Promise<void> {
    const rows = await selectEligibleWorkers(database);
    const present = new Set(rows.map(({ address }) => address));
    for (const worker of workers.values()) {
      worker.isEligible = present.has(worker.address);
      if (!worker.isEligible && isForgettable(worker, nowMs())) workers.delete(worker.address);
    }
    for (const row of rows) {
      const known = workers.get(row.address);
      if (!known) workers.set(row.address, newcomer(row));
      else Object.assign(known, known.endpoint === row.endpoint ? {} : unprobed(), row);
    }
  }

  /** What other processes, or this one before it started again, saw of the workers' speed. */
  async function recallFirstTokens(): Promise<void> {
    for (const { worker, model, first_token_ms } of await selectFirstTokens(database)) {
      const observed = { ms: first_token_ms, observedAtMs: nowMs() };
      workers.get(worker)?.firstTokens.set(model, observed);
    }
  }

  async function probeDue(): Promise<void> {
    const now = nowMs();
    const due = eligible().filter(({ probedAtMs }) => now - probedAtMs >= PROBE_INTERVAL_MS);
    await Promise.all(
      due.map(async (worker) => {
        const { endpoint } = worker;
        worker.probedAtMs = now;
        const health = await probe(worker);
        // What its former endpoint said counts no more.
        if (worker.endpoint !== endpoint) return;
        worker.isSilent = health === undefined;
        if (!health) return;
        worker.answeredAtMs = nowMs();
        worker.slots = health.slots;
        worker.inFlightElsewhere = Math.max(0, health.in_flight - worker.inFlight);
      }),
    );
    slots.offer();
  }

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      await delay(READ_INTERVAL_MS, closing.signal);
      try {
        await readWorkers();
        // Not awaited: a worker that hangs must not delay the news of the others.
        void probeDue();
      } catch (error) {
        // The pool as last read goes on serving; requests themselves tell of a database that is away.
        logger.warn({ msg: 'Failed to read the workers', err: error });
      }
    }
  }

  return {
    async start() {
      await readWorkers();
      await recallFirstTokens();
      await probeDue();
      loop = run();
    },
    async close() {
      closing.abort();
      await loop;
    },
    answering,
    active,
    retryAfterSeconds: (modelAddress) =>
      retryAfterSeconds({
        workers: hosting(eligible(), modelAddress),
        waiting: slots.waiting(modelAddress),
        nowMs: nowMs(),
      }),
    reserve: slots.reserve,
  };
}

/** Its jobs are counted until they end, and leaving does not shorten a cool-down. */
function isForgettable({ inFlight, standing }: KnownWorker, nowMs: number): boolean {
  return inFlight === 0 && standing.coolUntilMs <= nowMs;
}
