import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { base58 } from '@scure/base';
import type { StackDescription } from '../../stack/stackFile.ts';
import { createTestDatabase, execute, type TestDatabase } from '../../testing/database/database.ts';
import { startLedger, type TestLedger } from '../../testing/ledger/ledger.ts';
import { createStory } from '../../testing/story.ts';
import { until } from '../../testing/until.ts';
import { complete, createWorkplace, type StartedStack, type Workplace } from './startedStack.ts';

let place: Workplace;
let database: TestDatabase;
let started: StartedStack;
let first: StackDescription;

const open = async () => {
  place = await createWorkplace();
  database = await createTestDatabase({ isEmpty: true });
};
const close = async () => {
  await place.close();
  await database.close();
};

/** Starts a stack that uses the database, and completes a job. */
async function run(more: Record<string, string> = {}): Promise<StackDescription> {
  started = place.start({ DATABASE_URL: database.databaseUrl, ...more });
  const stack = await started.running();
  await complete(stack);
  return stack;
}

describe('a stack with an external database', () => {
  const it = createStory();
  beforeAll(open);
  afterAll(close);

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
    expect(started.output()).not.toContain('starts again');
    expect(place.processes()).toEqual([]);
    expect(place.files()).toEqual([]);
  });

  it('clears the mirror of the previous ledger and keeps the keys', async () => {
    const second = await run();
    await started.stop();
    expect(await mirroredJobs()).toEqual([{ wallet: second.wallet }]);
    const keys = 'select wallet from service.api_keys order by created_at';
    expect(await execute(database.databaseUrl, keys)).toEqual([
      { wallet: first.wallet },
      { wallet: second.wallet },
    ]);
  });
});

describe('a stack on a test validator', () => {
  const it = createStory();
  let ledger: TestLedger;
  beforeAll(async () => {
    await open();
    ledger = await startLedger();
  });
  afterAll(async () => {
    await close();
    await ledger.close();
  });

  const runOnLedger = () =>
    run({
      // As .env files spell "not set".
      SVC_WALLET: '',
      SOLANA_RPC_URL: ledger.rpcUrl,
      SOLANA_WS_URL: ledger.wsUrl,
      SVC_AUTHORITY_KEY: base58.encode(ledger.payer.secretKey),
    });

  it('takes its processes with it when it is killed', async () => {
    first = await runOnLedger();
    process.kill(first.pid, 'SIGKILL');
    await place.untilNoProcess();
  });

  it('sets the service up once, finds it again, and replaces its wallet’s key', async () => {
    const second = await runOnLedger();
    expect(second.pid).not.toBe(first.pid);
    expect(second.wallet).toBe(first.wallet);
    expect(second.rpcUrl).toBe(first.rpcUrl);
    expect(second.apiKey).not.toBe(first.apiKey);
    await started.stop('SIGINT');
    expect(place.files()).toEqual([]);
  });
});
