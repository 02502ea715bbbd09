import type { Logger } from '../../common/logger.ts';
import type { Database } from '../../common/postgres.ts';
import { insertObservations, type Observation } from '../sql/workers.ts';

/** Writes down what was observed, together with what else is observed at the time. */
interface ObservationLog {
  add(observation: Observation): void;
  /** Writes what is left; what is being written goes on. */
  close(): Promise<void>;
}

/** Well below the ten minutes that a median looks back over. */
const WRITE_AFTER_MS = 500;

/** A request waits for none of this, and a second has one statement, however many its requests. */
export function createObservationLog(options: {
  database: Database;
  logger: Logger;
}): ObservationLog {
  const { database, logger } = options;
  let observations: Observation[] = [];
  let timer: NodeJS.Timeout | undefined;

  async function write(): Promise<void> {
    const written = observations;
    observations = [];
    timer = undefined;
    try {
      await insertObservations(database, written);
    } catch (error) {
      // A few observations of many; the median does without them.
      logger.warn({ msg: 'Failed to record latencies', err: error });
    }
  }

  return {
    add(observation) {
      observations.push(observation);
      timer ??= setTimeout(write, WRITE_AFTER_MS);
    },
    async close() {
      if (timer === undefined) return;
      clearTimeout(timer);
      await write();
    },
  };
}
