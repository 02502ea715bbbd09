import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import type { StackDescription } from '../../stack/stackFile.ts';
import { execute } from '../../testing/database/database.ts';
import { createStory } from '../../testing/story.ts';
import {
  complete,
  createWorkplace,
  readFrom,
  type StartedStack,
  type Workplace,
} from './startedStack.ts';

const environment = { SVC_DATA_DIR: 'kept' };

/** What a start has to find again: who the stack's client is, and all that it owns. */
async function readAccount(stack: StackDescription) {
  const { apiKey, wallet } = stack;
  const { data: jobs } = await readFrom<{ data: { status: string }[] }>(stack, '/v1/jobs');
  const account = await readFrom<{ credits_remaining: number }>(stack, '/v1/account');
  return { apiKey, wallet, jobs, credits: account.credits_remaining };
}

/** One folder from its first start to its last, through every way in which a stack ends. */
describe('a stack with a data folder', () => {
  const it = createStory();
  let place: Workplace;
  let started: StartedStack;
  let stack: StackDescription;
  let before: Awaited<ReturnType<typeof readAccount>>;

  beforeAll(async () => {
    place = await createWorkplace();
  });
  afterAll(() => place.close());

  const start = async () => {
    started = place.start(environment);
    stack = await started.running();
  };
  /** Completes a job, and keeps what is to be found after the next start. */
  const completeBefore = async () => {
    await complete(stack);
    before = await readAccount(stack);
    expect(before.jobs).not.toEqual([]);
  };
  const expectKept = async () => expect(await readAccount(stack)).toEqual(before);

  it('keeps wallet, key, credits, jobs and stored answers', async () => {
    await start();
    await completeBefore();
    await execute(
      stack.databaseUrl,
      `insert into service.worker_observations (worker, model_id, first_token_ms)
       values ('kept', 'kept', 1)`,
    );
    await started.stop();

    await start();
    await expectKept();
    const observed = 'select worker from service.worker_observations';
    expect(await execute(stack.databaseUrl, observed)).toContainEqual({ worker: 'kept' });
    for (const file of ['authority.json', 'api-key']) {
      expect(statSync(join(place.folder, 'kept', file)).mode & 0o777).toBe(0o600);
    }
  });

  it('ends with the process that holds PostgreSQL, and says what to do', async () => {
    await completeBefore();
    place.kill('databaseMain.ts');
    expect(await started.exitCode()).toBe(1);
    expect(started.output()).toContain('The database ended unexpectedly (SIGKILL).');
    expect(started.output()).toContain(
      `Everything else ends now. Nothing confirmed or committed is lost: it is in ` +
        `${join(place.folder, 'kept')}, and the next start recovers it. Run npm start again.\n`,
    );
    expect(started.output()).not.toContain('starts again');
    expect(place.processes()).toEqual([]);
    await start();
    await expectKept();
  });

  it('loses nothing when it is killed, even if only PostgreSQL survives', async () => {
    await completeBefore();
    const orphans = await place.killAllButPostgres();
    expect(orphans).not.toEqual([]);

    await start();
    const alive = place.processes().map(({ id }) => id);
    expect(orphans.filter((id) => alive.includes(id))).toEqual([]);
    await expectKept();
    expect(existsSync(join(place.folder, 'kept/postgres/PG_VERSION'))).toBe(true);
  });

  it('ends with its launcher, and leaves nothing but its data', async () => {
    started.process.kill('SIGKILL');
    await place.untilNoProcess();
    const kept = join(place.folder, 'kept/');
    expect(place.files().filter((path) => !path.startsWith(kept))).toEqual([]);
  });
});
