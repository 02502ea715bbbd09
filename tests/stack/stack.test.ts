import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bytesToHex } from '../../programs/client/platform/bytes.ts';
import { modelCardHash } from '../../programs/client/proof.ts';
import BUILTIN_CARD from '../../stack/modelCards/builtin.json' with { type: 'json' };
import type { StackDescription } from '../../stack/stackFile.ts';
import { execute } from '../../testing/database/database.ts';
import { needs } from '../../testing/machine/needs.ts';
import { createStory } from '../../testing/story.ts';
import { until } from '../../testing/until.ts';
import {
  complete,
  createWorkplace,
  readFrom,
  type StartedStack,
  type Workplace,
} from './startedStack.ts';

const svc = fileURLToPath(new URL('../../cli/svc.mjs', import.meta.url));

let place: Workplace;
let started: StartedStack;
let stack: StackDescription;

beforeAll(async () => {
  place = await createWorkplace();
});
afterAll(() => place.close());

function expectNothingLeft(): void {
  expect(place.processes()).toEqual([]);
  expect(place.files()).toEqual([]);
}

const untilRunsAgain = (name: string) =>
  until(() => started.output().includes(`The ${name} runs again.`));

const expectKilled = (name: string) =>
  expect(started.output()).toContain(
    `The ${name} ended unexpectedly (SIGKILL) and starts again in 0.5 s.\n`,
  );

const { isMet: curlIsThere } = needs('curl');

/** What curl would send by a printed command, on a machine without it. @returns the body of the answer */
async function sendByFetch(command: string): Promise<string> {
  const [, url = ''] = /^curl -s (\S+) /.exec(command) ?? [];
  const headers = [...command.matchAll(/-H '(\S+): (.+?)'/g)].map(([, name = '', value = '']) => [
    name,
    value,
  ]);
  const [, body = ''] = /-d '(.+)'$/.exec(command) ?? [];
  const response = await fetch(url, { method: 'POST', headers: Object.fromEntries(headers), body });
  return response.text();
}

describe('a stack without a data folder', () => {
  const it = createStory();
  beforeAll(async () => {
    started = place.start({ WORKER_UPSTREAM_KEY: 'bearer', CLOUD_TOKEN: 't' });
    stack = await started.running();
  });

  it('answers the request that it prints, and serves the web app where it says', async () => {
    const lines = started.output().split('\n');
    const curl = lines.find((line) => line.startsWith('curl')) ?? '';
    const completion = JSON.parse(curlIsThere ? await place.run(curl) : await sendByFetch(curl));
    expect(completion).toMatchObject({ object: 'chat.completion', model: stack.model });
    expect(completion.choices[0].message.content).not.toBe('');
    expect(lines).toContain(`The web app: ${stack.consoleUrl}`);
    const page = await fetch(String(stack.consoleUrl));
    expect([page.status, page.headers.get('content-type')]).toEqual([
      200,
      'text/html; charset=utf-8',
    ]);
  });

  it('hosts every launch model twice, and admits no second start [charging.launch-prices]', async () => {
    const { pid, baseUrl, wallet } = stack;
    expect(baseUrl).toBe(`http://127.0.0.1:${place.port}`);
    expect(statSync(join(place.folder, '.svc/stack.json')).mode & 0o777).toBe(0o600);
    expect(await place.run(`${process.execPath} ${svc} keys list`)).toContain(wallet);

    const second = place.start({ PORT: '0' });
    expect(await second.exitCode()).toBe(1);
    expect(second.output()).toBe(
      `A stack already runs in this folder (process ${pid}, ${baseUrl}). Stop it first.\n`,
    );

    const activeWorkers = async () => {
      type Models = { data: { svc: { active_workers: number } }[] };
      const { data } = await readFrom<Models>(stack, '/v1/models');
      return data.map(({ svc: { active_workers } }) => active_workers);
    };
    // A busy machine may leave a probe unanswered; the next one follows in seconds.
    await until(async () => (await activeWorkers()).every((count) => count === 2));
    expect(await activeWorkers()).toHaveLength(8);
  });

  it('says by the card of each model that no language model answers', async () => {
    type Models = { data: { svc: { card: { source: string } | null; card_hash: string } }[] };
    const { data } = await readFrom<Models>(stack, '/v1/models');
    const hash = modelCardHash(BUILTIN_CARD);
    for (const { svc } of data) {
      expect(svc.card).toEqual(BUILTIN_CARD);
      expect(svc.card_hash).toBe(`sha256:${bytesToHex(hash)}`);
    }
    expect(BUILTIN_CARD.source).toContain('no language model');
  });

  it("hides its operator's secrets from programs that run in its database", async () => {
    const run = (sql: string) => execute(stack.databaseUrl, sql);
    await run('create table environment (line text)');
    await run(`copy environment from program 'env'`);
    const names = await run(`select split_part(line, '=', 1) as name from environment`);
    expect(names).toContainEqual({ name: 'PATH' });
    for (const name of ['CLOUD_TOKEN', 'WORKER_UPSTREAM_KEY']) {
      expect(names).not.toContainEqual({ name });
    }
  });

  it('starts a killed indexer or API again, for the client’s next completion', async () => {
    for (const name of ['indexer', 'api']) {
      place.kill(`${name}/main.ts`);
      await untilRunsAgain(name);
      expectKilled(name);
      await complete(stack);
    }
  });

  it('starts killed workers again at the addresses that the ledger has', async () => {
    place.kill('worker/main.ts');
    for (const name of ['worker-1', 'worker-2']) {
      await untilRunsAgain(name);
      expectKilled(name);
    }
    await complete(stack);
  });

  it('prints where its packages are once they are built', async () => {
    await until(() => started.output().includes(` s  packages  ${stack.baseUrl}/packages/\n`));
    expect((await fetch(`${stack.baseUrl}/packages/cli`)).status).toBe(200);
  });

  it('leaves nothing behind after SIGTERM', async () => {
    await started.stop();
    expectNothingLeft();
  });
});

it('a stack that is interrupted at its start leaves nothing behind', async () => {
  const interrupted = place.start();
  await until(() => place.processes().some(({ command }) => command.includes('databaseMain')));
  await interrupted.stop();
  expectNothingLeft();
});
