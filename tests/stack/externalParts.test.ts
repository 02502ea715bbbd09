import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import type { StackDescription } from '../../stack/stackFile.ts';
import { createTestDatabase, execute, type TestDatabase } from '../../testing/database/database.ts';
import { createStory } from '../../testing/story.ts';
import { until } from '../../testing/until.ts';
import { complete, createWorkplace, type StartedStack, type Workplace } from './startedStack.ts';

describe('a stack with an external database', () => {
  const it = createStory();
  let place: Workplace;
  let database: TestDatabase;
  let started: StartedStack;
  let first: StackDescription;
  beforeAll(async () => {
    place = await createWorkplace();
    database = await createTestDatabase({ isEmpty: true });
  });
  afterAll(async () => {
    await place.close();
    await database.close();
  });

  /** Starts a stack that uses the database, and completes a job. */
  async function run(): Promise<StackDescription> {
    // As .env files spell "not set".
    started = place.start({ DATABASE_URL: database.databaseUrl, SVC_WALLET: '' });
    const stack = await started.running();
    await complete(stack);
    return stack;
  }

  const mirroredJobs = () => execute(database.databaseUrl, 'select wallet from mirror.jobs');

  it('ends with the ledger, and says what that means and what to do', async () => {
    first = await run();
    await until(async () => (await mirroredJobs()).length === 1);
    place.kill('localnet/main.ts');
    expect(await started.exitCode()).toBe(1);
    expect(started.output()).toContain('The ledger ended unexpectedly (SIGKILL).');
    expect(started.output()).toContain(
      'Everything else ends now. The ledger was temporary: its data is lost. ' +
        'SVC_DATA_DIR would keep it. Run npm start again.\n',
    );
    expect([place.processes(), place.files()]).toEqual([[], []]);
  });

  it('clears the mirror of the previous ledger and keeps the keys', async () => {
    const second = await run();
    await started.stop('SIGINT');
    expect(await mirroredJobs()).toEqual([{ wallet: second.wallet }]);
    const keys = 'select wallet from service.api_keys order by created_at';
    expect(await execute(database.databaseUrl, keys)).toEqual([
      { wallet: first.wallet },
      { wallet: second.wallet },
    ]);
  });
});
