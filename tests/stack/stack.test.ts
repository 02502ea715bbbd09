import { statSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createPool } from '../../common/postgres.ts';
import { createWorkplace, until, type Workplace } from './startedStack.ts';

const svc = fileURLToPath(new URL('../../cli/svc.mjs', import.meta.url));

let place: Workplace;
beforeEach(async () => {
  place = await createWorkplace();
});
afterEach(() => place.close());

describe('a running stack', () => {
  it('answers the request that it prints, and leaves nothing behind after SIGTERM', async () => {
    const started = place.start();
    const stack = await started.running();
    const lines = started.output().split('\n');
    const curl = lines.find((line) => line.startsWith('curl')) ?? '';

    const completion = JSON.parse(await place.run(curl));
    expect(completion).toMatchObject({ object: 'chat.completion', model: stack.model });
    expect(completion.choices[0].message.content).not.toBe('');
    expect(lines).toContain(`The web app: ${stack.consoleUrl}`);
    const page = await fetch(String(stack.consoleUrl));
    expect([page.status, page.headers.get('content-type')]).toEqual([
      200,
      'text/html; charset=utf-8',
    ]);

    started.process.kill('SIGTERM');
    expect(await started.exitCode()).toBe(0);
    expect(place.processes()).toEqual([]);
    expect(place.files()).toEqual([]);
  });

  it('writes a description for its owner only, hosts every launch model twice, and admits no second start [charging.launch-prices]', async () => {
    const { pid, baseUrl, apiKey, wallet } = await place.start().running();
    expect(baseUrl).toBe(`http://127.0.0.1:${place.port}`);
    expect(statSync(join(place.folder, '.svc/stack.json')).mode & 0o777).toBe(0o600);
    expect(await place.run(`${process.execPath} ${svc} keys list`)).toContain(wallet);

    const second = place.start({ PORT: '0' });
    expect(await second.exitCode()).toBe(1);
    expect(second.output()).toBe(
      `A stack already runs in this folder (process ${pid}, ${baseUrl}). Stop it first.\n`,
    );

    const activeWorkers = async () => {
      const response = await fetch(`${baseUrl}/v1/models`, {
        headers: { authorization: `Bearer ${apiKey}` },
      });
      const { data } = (await response.json()) as { data: { svc: { active_workers: number } }[] };
      return data.map(({ svc: { active_workers } }) => active_workers);
    };
    // A busy machine may leave a probe unanswered; the next one follows in seconds.
    await until(async () => (await activeWorkers()).every((count) => count === 2));
    expect(await activeWorkers()).toHaveLength(8);
  });

  it('refuses webhooks to this machine when its operator forbids them', async () => {
    const started = place.start({ SVC_ALLOW_LOOPBACK: 'false' });
    const { baseUrl, apiKey } = await started.running();
    expect(started.output()).toContain('refused for workers and webhooks');
    const response = await fetch(`${baseUrl}/v1/webhooks`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ url: 'http://127.0.0.1:9000/', events: ['job.completed'] }),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: 'url' } });
  });

  it("hides its operator's secrets from programs that run in its database", async () => {
    const stack = await place.start({ WORKER_UPSTREAM_KEY: 'bearer', CLOUD_TOKEN: 't' }).running();
    const pool = createPool({ ...stack, applicationName: 'test', max: 1 });
    await pool.query('create table environment (line text)');
    await pool.query(`copy environment from program 'env'`);
    const { rows } = await pool.query<{ line: string }>('select line from environment');
    await pool.end();
    const names = rows.map(({ line }) => line.split('=')[0]);
    expect(names).toContain('PATH');
    expect(names).not.toContain('CLOUD_TOKEN');
    expect(names).not.toContain('WORKER_UPSTREAM_KEY');
  });
});

describe('a killed stack', () => {
  it('takes its processes with it, and the next one starts normally', async () => {
    const { pid } = await place.start().running();
    process.kill(pid, 'SIGKILL');
    await place.untilNoProcess();

    const next = place.start();
    expect((await next.running()).pid).not.toBe(pid);
    next.process.kill('SIGINT');
    expect(await next.exitCode()).toBe(0);
    expect(place.files()).toEqual([]);
  });

  it('is cleaned up by the next one, even if only PostgreSQL survives', async () => {
    await place.start().running();
    for (const { id, command } of place.processes()) {
      if (!command.includes('/bin/postgres')) process.kill(id, 'SIGKILL');
    }
    await until(() => place.processes().every(({ command }) => command.includes('postgres')));
    const orphans = place.processes();
    expect(orphans).not.toEqual([]);

    const next = place.start();
    await next.running();
    const alive = place.processes().map(({ id }) => id);
    expect(orphans.filter(({ id }) => alive.includes(id))).toEqual([]);
    next.process.kill('SIGTERM');
    expect(await next.exitCode()).toBe(0);
    expect(place.files()).toEqual([]);
  });

  it('ends with its launcher', async () => {
    const started = place.start();
    await started.running();
    started.process.kill('SIGKILL');
    await place.untilNoProcess();
    expect(place.files()).toEqual([]);
  });
});

describe('a stack that cannot start', () => {
  it('names an occupied port before it starts anything', async () => {
    const other = createServer().listen(place.port, '127.0.0.1');
    const started = place.start();
    expect(await started.exitCode()).toBe(1);
    expect(started.output()).toBe(
      `Port ${place.port} on 127.0.0.1 is taken. Choose another: PORT=8180 npm start\n`,
    );
    other.close();
  });

  it("names the missing keys of a cluster's operator", async () => {
    const started = place.start({ SOLANA_RPC_URL: 'http://127.0.0.1:9' });
    expect(await started.exitCode()).toBe(1);
    expect(started.output()).toContain('Missing: SVC_GATEWAY (address of your Gateway account)');
    expect(place.processes()).toEqual([]);
    expect(place.files()).toEqual([]);
  });

  it('names DATABASE_URL, without its password, when that database is unreachable', async () => {
    const started = place.start({ DATABASE_URL: 'postgres://svc:secret@127.0.0.1:9/svc' });
    expect(await started.exitCode()).toBe(1);
    expect(started.output()).toContain(
      'The database of DATABASE_URL cannot be used: connect ECONNREFUSED 127.0.0.1:9\n',
    );
    expect(started.output()).not.toContain('secret');
    expect(place.processes()).toEqual([]);
    expect(place.files()).toEqual([]);
  });

  it('names the nearest setting for one that no process has', async () => {
    const started = place.start({ WORKER_UPSTREAM_ULR: 'http://127.0.0.1:9/v1' });
    expect(await started.exitCode()).toBe(1);
    expect(started.output()).toBe(
      'WORKER_UPSTREAM_ULR: is no setting; ' + 'the nearest is WORKER_UPSTREAM_URL\n',
    );
    expect(place.files()).toEqual([]);
  });

  it('leaves nothing behind when it is interrupted', async () => {
    const started = place.start();
    await until(() => place.processes().some(({ command }) => command.includes('databaseMain')));
    started.process.kill('SIGTERM');
    expect(await started.exitCode()).toBe(0);
    expect(place.processes()).toEqual([]);
    expect(place.files()).toEqual([]);
  });
});
