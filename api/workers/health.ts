import type { Dispatcher } from 'undici';
import { z } from 'zod';
import { assertUrlAllowed, requestWithin } from '../../common/net/addressGuard.ts';
import type { WorkerRow } from '../sql/workers.ts';
import { isConnectionRefused, readBoundedJson } from './events.ts';

/** As workers name it in their health, and in the header `x-svc-engine`. */
export const BUILTIN_ENGINE = 'builtin';

const jobCount = z.int().min(0).max(100_000);

const healthBody = z.object({
  worker_address: z.string(),
  slots: jobCount,
  in_flight: jobCount.default(0),
  engine: z.string().max(64).default('upstream'),
  /** Whose jobs it takes; every gateway's without it. */
  gateways: z.array(z.string()).or(z.literal('any')).optional(),
});

/** What a worker says of itself. */
export type WorkerHealth = z.infer<typeof healthBody>;

/** `refused`: nothing listens at the endpoint. */
export type WorkerProbe = (worker: WorkerRow) => Promise<WorkerHealth | 'refused' | undefined>;

/** Soon enough that a worker which hangs gets few jobs, and cheap enough for a pool of hundreds. */
export const PROBE_INTERVAL_MS = 5_000;

/** Less than the interval, so that a worker is never asked twice at a time. */
const PROBE_TIMEOUT_MS = 3_000;

/**
 * Asks a worker whether it is there. A worker that answers for another address is treated as
 * silent: its endpoint was taken over, or is misconfigured. So is one that does not serve our gateway,
 * and one with the built-in engine, which only a service for development may sell.
 *
 * It yields undefined for every kind of silence, since all mean "offer it no work".
 */
export function createHealthProbe(options: {
  dispatcher: Dispatcher;
  /** The address of our Gateway. */
  gateway: string;
  allowLoopback: boolean;
  allowBuiltin: boolean;
}): WorkerProbe {
  const { dispatcher, gateway, allowLoopback, allowBuiltin } = options;
  return async (worker) => {
    try {
      const url = new URL(`${worker.endpoint}/health`);
      assertUrlAllowed(url, allowLoopback);
      const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
      const { body } = await requestWithin(url, { dispatcher, signal });
      const health = healthBody.parse(await readBoundedJson(body));
      const { gateways = 'any' } = health;
      const isServed = gateways === 'any' || gateways.includes(gateway);
      const isOffered = allowBuiltin || health.engine !== BUILTIN_ENGINE;
      const isOurs = health.worker_address === worker.address && isServed && isOffered;
      return isOurs ? health : undefined;
    } catch (error) {
      return isConnectionRefused(error) ? 'refused' : undefined;
    }
  };
}
