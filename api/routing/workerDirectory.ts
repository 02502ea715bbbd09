import type { Logger } from '../../runtime/logger.ts';
import type { Database } from '../../runtime/postgres.ts';
import { delay } from '../../runtime/wait.ts';
import { selectEligibleWorkers, type WorkerRow } from '../statements/workers.ts';
import type { KnownWorker } from './knownWorker.ts';
import { createSlots, type Slots } from './slots.ts';
import type { WorkerHealth } from './workerHealth.ts';

/** The pool of workers: who may be asked, who answers, and who has a free slot. */
export interface WorkerDirectory {
  /** Reads workers and probes them until `close`. Resolves after the first round. */
  start(): Promise<void>;
  close(): Promise<void>;
  /** Workers that answered their last probe in time. */
  answering(): KnownWorker[];
  /** Those of them that host the model. */
  active(modelAddress: string): KnownWorker[];
  /** Whether any eligible worker hosts the model, answering or not. */
  isHosted(modelAddress: string): boolean;
  reserve: Slots['reserve'];
}

const READ_INTERVAL_MS = 1_000;
const PROBE_INTERVAL_MS = 5_000;
/** A worker whose last answer is older is not offered work. */
const ANSWER_AGE_MAX_MS = 30_000;

export function createWorkerDirectory(options: {
  database: Database;
  logger: Logger;
  probe: (worker: WorkerRow) => Promise<WorkerHealth | undefined>;
  nowMs: () => number;
}): WorkerDirectory {
  const { database, logger, probe, nowMs } = options;
  const workers = new Map<string, KnownWorker>();
  const closing = new AbortController();
  let loop: Promise<void> | undefined;

  function answering(): KnownWorker[] {
    const oldest = nowMs() - ANSWER_AGE_MAX_MS;
    return [...workers.values()].filter((worker) => worker.answeredAtMs >= oldest);
  }

  function active(modelAddress: string): KnownWorker[] {
    return answering().filter((worker) => worker.models.includes(modelAddress));
  }

  const slots = createSlots({ candidates: active, nowMs });

  async function readWorkers(): Promise<void> {
    const rows = await selectEligibleWorkers(database);
    const present = new Set(rows.map((row) => row.address));
    for (const address of workers.keys()) if (!present.has(address)) workers.delete(address);
    for (const row of rows) {
      const known = workers.get(row.address);
      if (known) Object.assign(known, row);
      else workers.set(row.address, newcomer(row));
    }
  }

  async function probeDue(): Promise<void> {
    const now = nowMs();
    const due = [...workers.values()].filter(
      (worker) => now - worker.probedAtMs >= PROBE_INTERVAL_MS,
    );
    await Promise.all(
      due.map(async (worker) => {
        worker.probedAtMs = now;
        const health = await probe(worker);
        if (!health) return;
        worker.answeredAtMs = nowMs();
        worker.slots = health.slots;
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
      await probeDue();
      loop = run();
    },
    async close() {
      closing.abort();
      await loop;
    },
    answering,
    active,
    isHosted: (modelAddress) =>
      [...workers.values()].some((worker) => worker.models.includes(modelAddress)),
    reserve: slots.reserve,
  };
}

function newcomer(row: WorkerRow): KnownWorker {
  return {
    ...row,
    slots: 0,
    inFlight: 0,
    firstTokenMs: 0,
    answeredAtMs: Number.NEGATIVE_INFINITY,
    probedAtMs: Number.NEGATIVE_INFINITY,
    coolUntilMs: Number.NEGATIVE_INFINITY,
  };
}
