import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import type { StackDescription } from '../../stack/stackFile.ts';
import { createWorkplace, type StartedStack, until, type Workplace } from './startedStack.ts';

let place: Workplace;
beforeEach(async () => {
  place = await createWorkplace();
});
afterEach(() => place.close());

async function complete({ baseUrl, apiKey, model }: StackDescription): Promise<string | null> {
  const client = new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey });
  const { choices } = await client.chat.completions.create({
    model,
    messages: [{ role: 'user', content: 'Say hello.' }],
  });
  return choices[0]?.message.content ?? null;
}

const find = (words: string) => {
  const found = place.processes().find(({ command }) => command.includes(words));
  if (!found) throw new Error(`no process runs ${words}`);
  return found.id;
};

/** The first process of the server: its own processes have other titles. */
const findPostgres = () => find('/bin/postgres');

/** Kills a part, and waits until the stack reports that it runs again. */
async function killAndAwait(started: StartedStack, main: string, name: string): Promise<void> {
  process.kill(find(main), 'SIGKILL');
  await until(() => started.output().includes(`The ${name} runs again.`));
}

describe('a part of a running stack that is killed', () => {
  it('starts again where it was, and the openai client gets its next completion', async () => {
    const started = place.start();
    const stack = await started.running();
    expect(await complete(stack)).not.toBe('');
    for (const [main, name] of [
      ['indexer/main.ts', 'indexer'],
      ['api/main.ts', 'api'],
    ] as const) {
      await killAndAwait(started, main, name);
      expect(started.output()).toContain(
        `The ${name} ended unexpectedly (SIGKILL) and starts again in 0.5 s.\n`,
      );
      expect(await complete(stack)).not.toBe('');
    }
    started.process.kill('SIGTERM');
    expect(await started.exitCode()).toBe(0);
    expect(place.processes()).toEqual([]);
    expect(place.files()).toEqual([]);
  });

  it('may be both workers: they serve again at the endpoints that they have on the ledger', async () => {
    const started = place.start();
    const stack = await started.running();
    const workers = place.processes().filter(({ command }) => command.includes('worker/main.ts'));
    expect(workers).toHaveLength(2);
    for (const { id } of workers) process.kill(id, 'SIGKILL');
    for (const name of ['worker-1', 'worker-2']) {
      await until(() => started.output().includes(`The ${name} runs again.`));
      expect(started.output()).toContain(
        `The ${name} ended unexpectedly (SIGKILL) and starts again in 0.5 s.\n`,
      );
    }
    expect(await complete(stack)).not.toBe('');
  });
});

describe('a stack', () => {
  it.each([
    ['the ledger', 'localnet/main.ts', 'The ledger ended unexpectedly (SIGKILL).'],
    [
      'the process that holds PostgreSQL',
      'databaseMain.ts',
      'The database ended unexpectedly (SIGKILL).',
    ],
    ['PostgreSQL', '/bin/postgres', 'PostgreSQL ended unexpectedly (SIGKILL).'],
  ])('ends with %s, and says what that means and what to do', async (_case, words, sentence) => {
    const started = place.start();
    await started.running();
    process.kill(find(words), 'SIGKILL');
    expect(await started.exitCode()).toBe(1);
    expect(started.output()).toContain(sentence);
    expect(started.output()).toContain(
      'Everything else ends now. Database and ledger were temporary: their data is lost. ' +
        'SVC_DATA_DIR would keep it. Run npm start again.\n',
    );
    expect(started.output()).not.toContain('starts again');
    expect(place.processes()).toEqual([]);
    expect(place.files()).toEqual([]);
  });

  it('recovers what was committed before PostgreSQL was killed', async () => {
    const data = join(place.folder, 'data');
    const settings = { SVC_DATA_DIR: data };
    const started = place.start(settings);
    const stack = await started.running();
    await complete(stack);
    process.kill(findPostgres(), 'SIGKILL');
    expect(await started.exitCode()).toBe(1);
    expect(started.output()).toContain(
      `Nothing confirmed or committed is lost: it is in ${data}, and the next start recovers it.`,
    );
    expect(place.processes()).toEqual([]);

    const again = await place.start(settings).running();
    expect(again.apiKey).toBe(stack.apiKey);
    expect(await complete(again)).not.toBe('');
  });

  it.each([
    [
      'worker',
      { WORKER_SLOTS: 'many' },
      /The worker-\d ended unexpectedly \(exit code 1\)/,
      'WORKER_SLOTS',
    ],
    [
      'indexer',
      { INDEXER_LAG_MS_MAX: 'long' },
      /The indexer ended unexpectedly \(exit code 1\)/,
      'INDEXER_LAG_MS_MAX',
    ],
    [
      'API',
      { SVC_BURST_REQUESTS: 'few' },
      /The api ended unexpectedly \(exit code 1\)/,
      'SVC_BURST_REQUESTS',
    ],
  ])(
    'ends when its %s cannot start at all, with the words of that part',
    async (_case, settings, sentence, words) => {
      const started = place.start(settings as Record<string, string>);
      expect(await started.exitCode()).toBe(1);
      expect(started.output()).toMatch(sentence);
      expect(started.output()).toContain(words);
      expect(started.output()).not.toContain('starts again');
      expect(place.processes()).toEqual([]);
    },
  );
});
