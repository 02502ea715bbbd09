import { randomBytes } from 'node:crypto';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { createWebhooks } from '../../api/account/webhooks.ts';
import { ClientLeftError, toApiError } from '../../api/contracts/errors.ts';
import { renderError } from '../../api/http/middleware/renderError.ts';
import { createIdempotency } from '../../api/jobs/idempotency.ts';
import { createRequestIdentification } from '../../api/routes/completions.ts';
import { createSealing } from '../../common/sealing.ts';
import { bodyWith } from './requestScene.ts';
import { openServedDatabase, type ServedDatabase } from './servedDatabase.ts';

const log: string[] = [];
const logger = pino(
  new Writable({
    write(line, _encoding, done) {
      log.push(String(line));
      done();
    },
  }),
);
let scene: ServedDatabase;

beforeAll(async () => {
  scene = await openServedDatabase((pool) => {
    const idempotency = createIdempotency({
      database: pool,
      findStatus: async () => undefined,
      nowMs: () => Date.now(),
      failOrphan: async () => 'failed',
      logger,
    });
    return {
      logger,
      identify: createRequestIdentification(randomBytes(32)),
      completions: {
        complete: async ({ identity }) => void (await idempotency.claim(identity, 'job_0')),
        drain: async () => undefined,
      },
      webhooks: createWebhooks({
        ...{ pool, sealing: createSealing(randomBytes(32)), allowLoopback: true },
        resolve: async () => ['192.0.2.1'],
      }),
    };
  });
});

afterAll(() => scene?.close());

/** A table that is not there is nothing that any handler expects. */
async function without<Result>(table: string, act: () => Promise<Result>): Promise<Result> {
  const [schema, name] = table.split('.');
  await scene.pool.query(`alter table ${table} rename to hidden`);
  try {
    return await act();
  } finally {
    await scene.pool.query(`alter table ${schema}.hidden rename to ${name}`);
  }
}

const privately = 'for its writer alone';
const completion = bodyWith({ messages: `[{"role":"user","content":"${privately}"}]` });
const webhook = JSON.stringify({
  url: 'https://127.0.0.1/hooks',
  events: ['job.completed'],
  secret: privately,
});

describe('an internal error', () => {
  it.each([
    ['service.api_keys', 'GET', '/v1/account', undefined],
    ['service.webhooks', 'POST', '/v1/webhooks', webhook],
    ['service.idempotent_requests', 'POST', '/v1/chat/completions', completion],
  ])(
    'shows no internals to the client and no private data in the log: no %s [errors.no-internals]',
    async (...given) => {
      const [table, method, path, body] = given;
      log.length = 0;
      const response = await without(table, () =>
        scene.call(path, { method, ...(body !== undefined && { body }) }),
      );

      expect(response.status).toBe(500);
      expect(response.body).toEqual({
        error: {
          code: 'internal_error',
          message: 'Something went wrong on our side.',
          type: 'server_error',
          param: null,
          docs: 'https://api.example.com/docs/errors#internal_error',
        },
      });
      const written = log.join('');
      expect(written).toContain(`relation \\"${table}\\" does not exist`);
      expect(written).toContain(response.headers.get('x-request-id'));
      expect(written).not.toContain(privately);
      expect(written).not.toContain(scene.apiKey);
    },
  );
});

it('an error is not logged when its client only disconnected', () => {
  log.length = 0;
  const response = { headersSent: true, locals: {}, destroy: () => undefined };
  const render = renderError({ logger, publicUrl: 'https://api.example.com' });
  render(new ClientLeftError(), undefined as never, response as never, () => undefined);
  expect(log).toEqual([]);
});

describe('an unreachable or read-only database', () => {
  it.each([
    ...['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN', 'ETIMEDOUT', 'ENOTFOUND'],
  ])('counts as an unavailable part for the error %s', (code) => {
    const error = Object.assign(new Error(code), { code });
    expect(toApiError(error).code).toBe('service_unavailable');
  });

  it('counts as an unavailable part when it only reads', async () => {
    const client = await scene.pool.connect();
    await client.query('begin read only');
    const refused = await client.query('delete from service.api_keys').catch((error) => error);
    await client.query('rollback');
    client.release();
    expect(toApiError(refused).code).toBe('service_unavailable');
  });

  it('does not count as unavailable when a file does not exist', () => {
    const error = Object.assign(new Error('open ENOENT'), { code: 'ENOENT' });
    expect(toApiError(error).code).toBe('internal_error');
  });
});
