import type pg from 'pg';
import { createWriteBuffer } from '../../common/database/batched.ts';
import type { Logger } from '../../common/logger.ts';
import type { Shutdown } from '../../common/shutdown.ts';
import { awaitDatabase } from '../../common/transientErrors.ts';
import type { Time } from '../../common/wait.ts';
import { insertSightings, type WorkerSighting } from '../sql/workerHours.ts';
import { insertObservations, type ModelRow, type Observation } from '../sql/workers.ts';
import { createWorkerDirectory, type WorkerDirectory } from './directory.ts';
import { createHealthProbe } from './health.ts';

/** The pool of workers, and where it is recorded how they do. */
interface OpenWorkers {
  directory: WorkerDirectory;
  /** Records a first token, for the choice of every instance and the worker's hours. */
  recordFirstToken(observation: Observation): void;
}

/** Waits for the database, and for the first round of probes. */
export async function openWorkers(options: {
  pool: pg.Pool;
  shutdown: Shutdown;
  probing: Parameters<typeof createHealthProbe>[0];
  listModels: () => readonly ModelRow[];
  logger: Logger;
  time: Time;
}): Promise<OpenWorkers> {
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
    recordFirstToken(observation) {
      observations.add(observation);
      const { worker, modelId, firstTokenMs: ms } = observation;
      sightings.add({ worker, kind: 'first_token', modelId, ms });
    },
  };
}
