import { type Dispatcher, fetch } from 'undici';
import { z } from 'zod';
import { assertUrlAllowed } from '../../runtime/addressGuard.ts';
import type { WorkerRow } from '../statements/workers.ts';

const healthBody = z.object({
  worker_address: z.string(),
  slots: z.int().min(0).max(100_000),
  engine: z.string().max(64),
});

/** What a worker says of itself. */
export type WorkerHealth = z.infer<typeof healthBody>;

const PROBE_TIMEOUT_MS = 3_000;

/**
 * Asks a worker whether it is there. A worker that answers for another address is treated as
 * silent: its endpoint was taken over, or is misconfigured.
 *
 * @returns undefined for every kind of silence, since all mean "offer it no work"
 */
export function createHealthProbe(options: {
  dispatcher: Dispatcher;
  allowLoopback: boolean;
}): (worker: WorkerRow) => Promise<WorkerHealth | undefined> {
  const { dispatcher, allowLoopback } = options;
  return async (worker) => {
    try {
      const url = new URL(`${worker.endpoint}/health`);
      assertUrlAllowed(url, allowLoopback);
      const response = await fetch(url, {
        dispatcher,
        redirect: 'error',
        signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
      });
      const health = healthBody.parse(await response.json());
      return health.worker_address === worker.address ? health : undefined;
    } catch {
      return undefined;
    }
  };
}
