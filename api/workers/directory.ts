import type pg from 'pg';
import type { Logger } from '../../common/logger.ts';
import { createWriteBuffer, type Database } from '../../common/postgres.ts';
import type { Shutdown } from '../../common/shutdown.ts';
import { awaitDatabase, unlessMirrorLacks } from '../../common/transientErrors.ts';
import { delay, systemTime, type Time } from '../../common/wait.ts';
import { RETRY_AFTER_SECONDS_MAX } from '../../common/workerProtocol.ts';
import { insertSightings, type WorkerSighting } from '../sql/workerHours.ts';
import {
  insertObservations,
  type ModelRow,
  type Observation,
  selectEligibleWorkers,
  selectFirstTokens,
} from '../sql/workers.ts';
import {
  callsTools,
  createCapacity,
  type KnownWorker,
  newWorker,
  recordUnreachable,
  unknownHealth,
} from './capacity.ts';
import {
  createHealthProbe,
  isHealth,
  PROBE_INTERVAL_MS,
  unreadyReasonOf,
  type WorkerProbe,
} from './health.ts';

/** How far the pool may be behind the mirror: a worker that leaves is asked that long at most. */
const READ_INTERVAL_MS = 1_000;

/** A worker whose last answer is older is not offered work. */
const ANSWER_AGE_MAX_MS = 30_000;

export type WorkerDirectory = ReturnType<typeof createWorkerDirectory>;

/**
 * The pool of workers: who may be asked, who answers, and who has capacity.
 *
 * @param options.random in [0, 1), for the choice among workers
 */
export function createWorkerDirectory(options: {
  database: Database;
  logger: Logger;
  probe: WorkerProbe;
  time?: Time;
  random?: () => number;
  /** Is called with what workers do, to record it. */
  observer?: {
    probed(worker: string, isAnswered: boolean): void;
    failed(worker: string, modelAddress: string): void;
  };
}) {
  const { database, logger, probe, time = systemTime, random = Math.random, observer } = options;
  const { nowMs } = time;
  const workers = new Map<string, KnownWorker>();
  const closing = new AbortController();
  let loop: Promise<void> | undefined;
  let refreshing: Promise<void> | undefined;

  const eligible = (): KnownWorker[] => [...workers.values()].filter((one) => one.isEligible);
  /** @param toolsOf the model's id, where only those count that call tools */
  const hosting = (pool: KnownWorker[], address: string, toolsOf?: string): KnownWorker[] =>
    pool
      .filter(({ models }) => models.includes(address))
      .filter((one) => toolsOf === undefined || callsTools(one, { address, id: toolsOf }));

  function answering(): KnownWorker[] {
    const oldest = nowMs() - ANSWER_AGE_MAX_MS;
    return eligible().filter(({ answeredAtMs }) => answeredAtMs >= oldest);
  }

  const active = (modelAddress: string, toolsOf?: string): KnownWorker[] =>
    hosting(answering(), modelAddress, toolsOf);
  const capacity = createCapacity({
    candidates: active,
    time,
    random,
    onFailure: (worker, modelAddress) => observer?.failed(worker, modelAddress),
  });

  async function readWorkers(): Promise<void> {
    const rows = await selectEligibleWorkers(database);
    const present = new Set(rows.map(({ address }) => address));
    for (const worker of workers.values()) {
      worker.isEligible = present.has(worker.address);
      if (!worker.isEligible && isForgettable(worker, nowMs())) workers.delete(worker.address);
    }
    for (const row of rows) {
      const known = workers.get(row.address);
      if (!known) workers.set(row.address, newWorker(row));
      else Object.assign(known, known.endpoint === row.endpoint ? {} : unknownHealth(), row);
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
        // Ignore the answer: the endpoint has changed.
        if (worker.endpoint !== endpoint) return;
        worker.unreadyReason = unreadyReasonOf(health);
        if (health === 'refused') return recordUnreachable(worker);
        worker.isSilent = !isHealth(health);
        observer?.probed(worker.address, isHealth(health));
        if (!isHealth(health)) return;
        worker.answeredAtMs = nowMs();
        worker.startProbe ??= {
          answerMs: worker.answeredAtMs - now,
          firstTokenMs: health.first_token_ms,
        };
        worker.formatKept = health.response_format ?? [];
        worker.toolsCalled = health.tools ?? [];
        worker.capacity = health.slots;
        worker.inFlightElsewhere = Math.max(0, health.in_flight - worker.inFlight);
      }),
    );
    capacity.offer();
  }

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      await delay(READ_INTERVAL_MS, closing.signal, time);
      try {
        await readWorkers();
        // Not awaited: a worker that hangs must not delay the news of the others.
        void probeDue();
      } catch (error) {
        // The pool as last read goes on serving. Requests fail by themselves while the database is away.
        logger.warn({ msg: 'Failed to read the workers', err: error });
      }
    }
  }

  return {
    /**
     * Reads workers and probes them until `close`. Resolves after the first round: without workers
     * while there is no mirror.
     */
    async start(): Promise<void> {
      await unlessMirrorLacks(async () => {
        await readWorkers();
        await recallFirstTokens();
      });
      await probeDue();
      loop = run();
    },
    async close(): Promise<void> {
      closing.abort();
      await loop;
    },
    /** Eligible workers that answered a probe in time. */
    answering,
    /** Those of them that host the model; with its id, those that call tools, too. */
    active,
    /** The p50 of the start probes of its active workers, in whole milliseconds; undefined without one. */
    startProbeMs({ address, id }: Pick<ModelRow, 'address' | 'id'>): number | undefined {
      const probes = active(address).flatMap(({ startProbe }) => startProbe ?? []);
      return medianMs(probes.map(({ firstTokenMs, answerMs }) => firstTokenMs[id] ?? answerMs));
    },
    /** Whether an active worker of the model passed its trial of `response_format`, and the last canary's. */
    keepsFormat: ({ address, id }: Pick<ModelRow, 'address' | 'id'>): boolean =>
      active(address).some(
        ({ formatKept, formless }) => formatKept.includes(id) && !formless.includes(address),
      ),
    /** Whether an active worker of the model may have jobs with tools. */
    callsTools: ({ address, id }: Pick<ModelRow, 'address' | 'id'>): boolean =>
      active(address, id).length > 0,
    /** Why the first of its workers that says so takes no jobs. */
    unreadyReason: (modelAddress: string): string | undefined =>
      hosting(eligible(), modelAddress).find(({ unreadyReason }) => unreadyReason)?.unreadyReason,
    /** Whole seconds after which a request that found no capacity may find some. */
    retryAfterSeconds: (modelAddress: string, toolsOf?: string): number =>
      retryAfterSeconds({
        workers: hosting(eligible(), modelAddress, toolsOf),
        waiting: capacity.waiting(modelAddress),
        nowMs: nowMs(),
      }),
    reserve: capacity.reserve,
    /** Reads the workers now, for one that may have left within the last second. */
    refresh(): Promise<void> {
      refreshing ??= readWorkers().finally(() => {
        refreshing = undefined;
      });
      return refreshing;
    },
  };
}

/** Rounded; undefined of none. */
export function medianMs(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted[Math.ceil(sorted.length / 2) - 1];
  return middle === undefined ? undefined : Math.round(middle);
}

/** Its jobs are counted until they end, and leaving does not shorten a cool-down. */
function isForgettable({ inFlight, cooldown }: KnownWorker, nowMs: number): boolean {
  return inFlight === 0 && cooldown.coolUntilMs <= nowMs;
}

/** How long a job is taken to hold capacity where none has ended yet: a short answer. */
const JOB_MS_ASSUMED = 2_000;

/**
 * When a request that found no capacity may find some. Then a job ends, a cooldown or busy time is
 * over, or the next probe finds a worker that was away.
 *
 * @param options.workers that the ledger lets take jobs of the model
 * @param options.waiting how many requests wait for it
 * @returns whole seconds, 1 to 60
 */
export function retryAfterSeconds(options: {
  workers: readonly KnownWorker[];
  waiting: number;
  nowMs: number;
}): number {
  const { workers, waiting, nowMs } = options;
  const reachable = workers.filter(({ isSilent, capacity }) => !isSilent && capacity > 0);
  const away = workers.filter((worker) => !reachable.includes(worker));
  const full = reachable.filter(({ inFlight, capacity }) => inFlight >= capacity);
  const resting = reachable.filter((worker) => !full.includes(worker));
  const capacityFreedPerMs = full.reduce(
    (rate, { inFlight, jobMs }) => rate + inFlight / (jobMs || JOB_MS_ASSUMED),
    0,
  );
  const waitsMs = [
    (waiting + 1) / capacityFreedPerMs,
    ...resting.map(({ cooldown: { coolUntilMs, busyUntilMs } }) =>
      Math.max(coolUntilMs - nowMs, busyUntilMs - nowMs),
    ),
    ...away.map((worker) => untilBackMs(worker, nowMs)),
  ];
  const seconds = Math.ceil(Math.min(...waitsMs) / 1_000);
  return Math.min(Math.max(seconds, 1), RETRY_AFTER_SECONDS_MAX);
}

/** The next probe, at the earliest; what has been away for long is expected to stay away as long. */
function untilBackMs({ probedAtMs, answeredAtMs }: KnownWorker, nowMs: number): number {
  if (probedAtMs === -Infinity) return 0;
  return Math.max(probedAtMs + PROBE_INTERVAL_MS - nowMs, nowMs - answeredAtMs);
}

/** Waits for the database, and for the first round of probes. */
export async function openWorkers(options: {
  pool: pg.Pool;
  shutdown: Shutdown;
  probing: Parameters<typeof createHealthProbe>[0];
  listModels: () => readonly ModelRow[];
  logger: Logger;
  time: Time;
}) {
  const { pool, shutdown, probing, listModels, logger, time } = options;
  const sightings = await shutdown.open(
    'hours of workers',
    createWriteBuffer<WorkerSighting>({
      write: (seen) => insertSightings(pool, seen),
      what: 'hours of workers',
      logger,
    }),
  );
  const observations = await shutdown.open(
    'observations',
    createWriteBuffer<Observation>({
      // Some of many: the median does without those that fail.
      write: (observed) => insertObservations(pool, observed),
      what: 'latencies',
      logger,
    }),
  );
  const modelIdOf = (address: string) =>
    listModels().find((model) => model.address === address)?.id ?? address;
  const directory = createWorkerDirectory({
    database: pool,
    logger,
    probe: createHealthProbe(probing),
    time,
    observer: {
      probed: (worker, isAnswered) => sightings.add({ worker, kind: 'probe', isAnswered }),
      failed: (worker, address) =>
        sightings.add({ worker, kind: 'failure', modelId: modelIdOf(address) }),
    },
  });
  shutdown.add('worker directory', directory.close);
  await awaitDatabase(directory.start, logger, time);
  return {
    directory,
    /** Records a first token, for the choice of every instance and the worker's hours. */
    recordFirstToken(observation: Observation): void {
      observations.add(observation);
      const { worker, modelId, firstTokenMs: ms } = observation;
      sightings.add({ worker, kind: 'first_token', modelId, ms });
    },
  };
}
