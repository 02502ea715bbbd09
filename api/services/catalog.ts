import type { Logger } from '../../runtime/logger.ts';
import type { Database } from '../../runtime/postgres.ts';
import { delay } from '../../runtime/wait.ts';
import { type ModelRow, selectModels } from '../statements/models.ts';

/** The models and their prices, kept at most a second behind the mirror. */
export interface Catalog {
  start(): Promise<void>;
  close(): Promise<void>;
  find(modelId: string): ModelRow | undefined;
  list(): ModelRow[];
  /** Reads the mirror now, for a price that the ledger says has changed. */
  refresh(): Promise<void>;
}

const REFRESH_INTERVAL_MS = 1_000;

/**
 * A stale price cannot overcharge: the lock carries the quoted amount as its maximum, and the
 * program refuses a higher one.
 */
export function createCatalog(options: { database: Database; logger: Logger }): Catalog {
  const { database, logger } = options;
  const closing = new AbortController();
  let models = new Map<string, ModelRow>();
  let loop: Promise<void> | undefined;

  async function refresh(): Promise<void> {
    models = new Map((await selectModels(database)).map((model) => [model.id, model]));
  }

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      await delay(REFRESH_INTERVAL_MS, closing.signal);
      try {
        await refresh();
      } catch (error) {
        logger.warn({ msg: 'Failed to read the models', err: error });
      }
    }
  }

  return {
    async start() {
      await refresh();
      loop = run();
    },
    async close() {
      closing.abort();
      await loop;
    },
    find: (modelId) => models.get(modelId),
    list: () => [...models.values()],
    refresh,
  };
}
