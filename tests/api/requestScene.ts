import { randomBytes } from 'node:crypto';
import type { ServerOptions } from 'node:http';
import { createBurstLimit } from '../../api/http/middleware/authentication.ts';
import type { Completions } from '../../api/jobs/completion.ts';
import { createRequestIdentification } from '../../api/routes/completions.ts';
import { PRICE } from './catalogued.ts';
import { openServedDatabase } from './servedDatabase.ts';

export type Body = string | Uint8Array<ArrayBuffer>;

interface Answer {
  status: number;
  request?: unknown;
  error?: { message: string };
}

export type RequestScene = Awaited<ReturnType<typeof openRequestScene>>;

/** The way of a completion's body up to the request path, which answers with what it was given. */
export async function openRequestScene(serverOptions: ServerOptions = {}) {
  const services = () => ({
    // Every value of every field is tried in one run.
    bursts: createBurstLimit({ burst: 10_000, refillPerSecond: 1, nowMs: () => 0 }),
    identify: createRequestIdentification(randomBytes(32)),
    completions: {
      complete: async ({ request, response }) => void response.json({ request }),
      drain: async () => undefined,
    } satisfies Completions,
  });
  const scene = await openServedDatabase(services, serverOptions);
  await scene.pool.query('update mirror.credit_accounts set available_credits = $1', [PRICE]);
  return {
    ...scene,
    async send(body: Body, headers: Record<string, string> = {}): Promise<Answer> {
      const answer = await scene.call<object>('/v1/chat/completions', { body, headers });
      return { status: answer.status, ...answer.body };
    },
  };
}

/** The error of a bad body. @param param the field at fault; null when it is the whole body */
export function refusal(param: unknown) {
  return {
    status: 400,
    error: { code: 'invalid_request', type: 'invalid_request_error', param },
  };
}

const validFields = { model: '"m"', messages: '[{"role":"user","content":"hi"}]' };

/** A good body with some fields changed, as text: not every number survives as a value. */
export function bodyWith(fields: Record<string, string> = {}): string {
  const all = Object.entries({ ...validFields, ...fields });
  return `{${all.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join()}}`;
}

export function nestedArrays(depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth);
}
