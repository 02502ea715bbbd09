import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import bs58 from 'bs58';
import { createPool } from '../../common/postgres.ts';
import type { StackDescription } from '../../stack/stackFile.ts';
import { createTestDatabase } from '../../testing/database/database.ts';
import { startLedger } from '../../testing/ledger/ledger.ts';
import { createWorkplace, type Workplace } from './startedStack.ts';

let place: Workplace;
beforeEach(async () => {
  place = await createWorkplace();
});
afterEach(() => place.close());

async function complete({ baseUrl, apiKey, model }: StackDescription): Promise<Response> {
  return fetch(`${baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Say hello.' }] }),
  });
}

/** Starts a stack, completes one request, and ends the stack. */
async function runOnce(environment: Record<string, string>): Promise<StackDescription> {
  const started = place.start(environment);
  const stack = await started.running();
  const response = await complete(stack);
  expect(response.status).toBe(200);
  expect(response.headers.get('x-svc-settlement-tx')).not.toBeNull();
  started.process.kill('SIGTERM');
  const exitCode = await started.exitCode();
  // The output tells why, should it be another code.
  expect({ exitCode, output: started.output() }).toMatchObject({ exitCode: 0 });
  return stack;
}

describe('a stack with an external database', () => {
  it('clears the mirror of the previous ledger and keeps the keys', async () => {
    const database = await createTestDatabase({ isEmpty: true });
    const environment = { DATABASE_URL: database.databaseUrl };
    const first = await runOnce(environment);
    const second = await runOnce(environment);

    const pool = createPool({ ...database, applicationName: 'test' });
    const { rows: jobs } = await pool.query('select wallet from mirror.jobs');
    expect(jobs).toEqual([{ wallet: second.wallet }]);
    const { rows: keys } = await pool.query(
      'select wallet from service.api_keys order by created_at',
    );
    expect(keys).toEqual([{ wallet: first.wallet }, { wallet: second.wallet }]);
    await pool.end();
    await database.close();
  });

  it('refuses a database that mirrors another ledger', async () => {
    const database = await createTestDatabase({ isEmpty: true });
    const environment = { DATABASE_URL: database.databaseUrl };
    await runOnce(environment);
    const pool = createPool({ ...database, applicationName: 'test' });
    await pool.query('comment on schema mirror is null');
    await pool.end();

    const started = place.start(environment);
    expect(await started.exitCode()).toBe(1);
    expect(started.output()).toContain('DATABASE_URL or SVC_DATA_DIR mirrors another ledger');
    await database.close();
  });
});

describe('a stack on a test validator', () => {
  it('sets the service up once, finds it again, and replaces the key of its wallet', async () => {
    const ledger = await startLedger();
    const database = await createTestDatabase({ isEmpty: true });
    const environment = {
      DATABASE_URL: database.databaseUrl,
      // As .env files spell "not set".
      SVC_WALLET: '',
      SOLANA_RPC_URL: ledger.rpcUrl,
      SOLANA_WS_URL: ledger.wsUrl,
      SVC_AUTHORITY_KEY: bs58.encode(ledger.payer.secretKey),
    };
    const first = await runOnce(environment);
    const second = await runOnce(environment);
    expect(second.wallet).toBe(first.wallet);
    expect(second.rpcUrl).toBe(first.rpcUrl);
    expect(second.apiKey).not.toBe(first.apiKey);
    await database.close();
    await ledger.close();
  });
});
