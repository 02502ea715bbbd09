import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createPool } from '../../common/postgres.ts';
import type { StackDescription } from '../../stack/stackFile.ts';
import { createWorkplace, type StartedStack, type Workplace } from './startedStack.ts';

const environment = { SVC_DATA_DIR: 'kept' };

let place: Workplace;
beforeEach(async () => {
  place = await createWorkplace();
});
afterEach(() => place.close());

async function ask(
  { baseUrl, apiKey }: StackDescription,
  path: string,
  body?: object,
): Promise<Record<string, unknown>> {
  const response = await fetch(`${baseUrl}${path}`, {
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, unknown>;
}

async function complete(stack: StackDescription): Promise<void> {
  const messages = [{ role: 'user', content: 'Say hello.' }];
  await ask(stack, '/v1/chat/completions', { model: stack.model, messages });
}

async function stop(started: StartedStack): Promise<void> {
  started.process.kill('SIGTERM');
  const exitCode = await started.exitCode();
  // The output tells why, should it be another code.
  expect({ exitCode, output: started.output() }).toMatchObject({ exitCode: 0 });
}

describe('a stack with a data folder', () => {
  it('keeps wallet, key, credits, jobs and stored answers', async () => {
    const first = place.start(environment);
    const before = await first.running();
    await complete(before);
    const { data: jobs } = await ask(before, '/v1/jobs');
    const { credits_remaining: credits } = await ask(before, '/v1/account');
    const pool = createPool({ databaseUrl: before.databaseUrl, applicationName: 'test', max: 1 });
    await pool.query(
      `insert into service.worker_observations (worker, model_id, first_token_ms)
       values ('kept', 'kept', 1)`,
    );
    await pool.end();
    await stop(first);

    const second = place.start(environment);
    const after = await second.running();
    expect(after.apiKey).toBe(before.apiKey);
    expect(after.wallet).toBe(before.wallet);
    expect(await ask(after, '/v1/jobs')).toMatchObject({ data: jobs });
    expect(await ask(after, '/v1/account')).toMatchObject({ credits_remaining: credits });
    await complete(after);
    const settled = { status: 'settled' };
    expect(await ask(after, '/v1/jobs')).toMatchObject({ data: [settled, settled] });
    const kept = createPool({ databaseUrl: after.databaseUrl, applicationName: 'test', max: 1 });
    const { rows } = await kept.query(
      `select from service.worker_observations where worker = 'kept'`,
    );
    expect(rows).toHaveLength(1);
    await kept.end();
    await stop(second);
    for (const file of ['authority.json', 'api-key']) {
      expect(statSync(join(place.folder, 'kept', file)).mode & 0o777).toBe(0o600);
    }
  });

  it('loses nothing when it is killed, even if only PostgreSQL survives', async () => {
    const before = await place.start(environment).running();
    await complete(before);
    for (const { id, command } of place.processes()) {
      if (!command.includes('/bin/postgres')) process.kill(id, 'SIGKILL');
    }
    const next = place.start(environment);
    const after = await next.running();
    expect(after.apiKey).toBe(before.apiKey);
    expect(await ask(after, '/v1/jobs')).toMatchObject({ data: [{ status: 'settled' }] });
    await stop(next);
    expect(existsSync(join(place.folder, 'kept/postgres/PG_VERSION'))).toBe(true);
    expect(place.processes()).toEqual([]);
  });
});
