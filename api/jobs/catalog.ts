import type { Logger } from '../../common/logger.ts';
import type { Database } from '../../common/postgres.ts';
import { unlessMirrorLacks } from '../../common/transientErrors.ts';
import { delay, systemTime, type Time } from '../../common/wait.ts';
import { type ModelRow, selectMedianLatencies, selectModels } from '../sql/workers.ts';

/** Its id names nothing any more. */
export function isRetired({ retires_at }: ModelRow, nowSeconds: bigint): boolean {
  return retires_at !== null && retires_at <= nowSeconds;
}

const REFRESH_INTERVAL_MS = 1_000;
/**
 * The medians take tens of milliseconds of the database's time under load, too long for each request.
 * Of the ten minutes that they look back over, this is little.
 */
const MEDIANS_AGE_MAX_MS = 5_000;

export type Catalog = ReturnType<typeof createCatalog>;

/**
 * The models and their prices, kept at most a second behind the mirror, and how quick they are. A
 * stale price cannot overcharge: the lock carries the quoted amount as its maximum, and the program
 * refuses a higher one.
 */
export function createCatalog(options: { database: Database; logger: Logger; time?: Time }) {
  const { database, logger, time = systemTime } = options;
  const closing = new AbortController();
  let models = new Map<string, ModelRow>();
  let loop: Promise<void> | undefined;
  let medians: { readAtMs: number; byModelId: ReadonlyMap<string, number> } | undefined;
  let readingMedians: Promise<ReadonlyMap<string, number>> | undefined;

  async function refresh(): Promise<void> {
    models = new Map((await selectModels(database)).map((model) => [model.id, model]));
  }

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      await delay(REFRESH_INTERVAL_MS, closing.signal, time);
      try {
        await refresh();
      } catch (error) {
        logger.warn({ msg: 'Failed to read the models', err: error });
      }
    }
  }

  async function readMedians(): Promise<ReadonlyMap<string, number>> {
    const readAtMs = time.nowMs();
    try {
      const byModelId = await selectMedianLatencies(database);
      medians = { readAtMs, byModelId };
      return byModelId;
    } finally {
      readingMedians = undefined;
    }
  }

  return {
    /** Without models while there is no mirror. */
    async start(): Promise<void> {
      await unlessMirrorLacks(refresh);
      loop = run();
    },
    async close(): Promise<void> {
      closing.abort();
      await loop;
    },
    find: (modelId: string): ModelRow | undefined => models.get(modelId),
    list: (): ModelRow[] => [...models.values()],
    /**
     * The median time to first token in milliseconds by model id, at most five seconds behind; none
     * where nothing was observed.
     */
    async medianLatencies(): Promise<ReadonlyMap<string, number>> {
      if (medians && time.nowMs() - medians.readAtMs <= MEDIANS_AGE_MAX_MS)
        return medians.byModelId;
      readingMedians ??= readMedians();
      return readingMedians;
    },
    /** Reads the mirror now, for a price that the ledger says has changed. */
    refresh,
  };
}
