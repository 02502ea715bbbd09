import type { Dispatcher } from 'undici';
import { z } from 'zod';
import { assertUrlAllowed, isLoopbackHost, requestWithin } from '../../common/net/addressGuard.ts';
import { CAPACITY_MAX, HEALTH_TIMEOUT_MS } from '../../common/workerProtocol.ts';
import type { WorkerRow } from '../sql/workers.ts';
import { isConnectionRefused, readBoundedJson } from './events.ts';

/** As workers name it in their health, and in the header `x-svc-engine`. */
export const BUILTIN_ENGINE = 'builtin';

/** An hour: no trial of a model takes as long. */
const FIRST_TOKEN_MS_MAX = 3_600_000;

const jobCount = z.int().min(0).max(CAPACITY_MAX);

const healthBody = z.object({
  worker_address: z.string(),
  slots: jobCount,
  in_flight: jobCount.default(0),
  engine: z.string().max(64).default('upstream'),
  /** Of its trial of each model, by the model's id. */
  first_token_ms: z
    .record(z.string(), z.int().min(0).max(FIRST_TOKEN_MS_MAX))
    .catch({})
    .default({}),
  /** The models of which a trial was answered in the form of its `response_format`. */
  response_format: z.array(z.string()).optional().catch(undefined),
  /** The models that called the tool of a trial, as it was drawn. */
  tools: z.array(z.string()).optional().catch(undefined),
  /** Whose jobs it takes; every gateway's without it. */
  gateways: z.array(z.string()).or(z.literal('any')).optional(),
});

/** What a worker says of itself. */
export type WorkerHealth = z.infer<typeof healthBody>;

/** `reason`: why it takes no jobs, in its own words. `refused`: nothing listens at the endpoint. */
type Answer = WorkerHealth | { reason: string } | 'refused' | undefined;

export type WorkerProbe = (worker: WorkerRow) => Promise<Answer>;

/** Whether the worker takes jobs. */
export function isHealth(answer: Answer): answer is WorkerHealth {
  return typeof answer === 'object' && 'slots' in answer;
}

/** Why it takes none, where it says so and may be quoted. */
export function unreadyReasonOf(answer: Answer): string | undefined {
  return typeof answer === 'object' && 'reason' in answer ? answer.reason : undefined;
}

const unreadyBody = z.object({ error: z.object({ message: z.string().max(1_000) }) });

/**
 * Soon enough that a worker which hangs gets few jobs, and cheap enough for a pool of hundreds.
 * Longer than `HEALTH_TIMEOUT_MS`, so that a worker gets one probe at a time.
 */
export const PROBE_INTERVAL_MS = 5_000;

/**
 * Asks a worker for its health. A worker that answers for another address counts as silent: its
 * endpoint was taken over, or is misconfigured. So does one that does not serve our gateway, and one
 * with the built-in engine, which only a service for development may sell.
 *
 * It returns undefined for every kind of silence, since all mean "offer it no work". Only a worker on
 * this machine, which a service for development alone allows, may say why. Clients must not read what
 * strangers write, or where an operator's upstream fails.
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
      const signal = AbortSignal.timeout(HEALTH_TIMEOUT_MS);
      const { body } = await requestWithin(url, { dispatcher, signal });
      const answer = await readBoundedJson(body);
      const unready = unreadyBody.safeParse(answer).data;
      if (unready && isLoopbackHost(url.hostname)) return { reason: unready.error.message };
      const health = healthBody.parse(answer);
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
