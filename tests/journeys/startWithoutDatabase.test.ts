import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { createTestDatabase, type TestDatabase } from '../../testing/database/database.ts';
import { type DatabaseGate, startDatabaseGate } from '../../testing/database/databaseGate.ts';
import { openService, startLedger, type TestLedger } from '../../testing/ledger/ledger.ts';

const AWAY = 'Waiting for the database at DATABASE_URL';

let ledger: TestLedger;
let database: TestDatabase;
let gate: DatabaseGate;
let opened: Awaited<ReturnType<typeof openService>>;
const started: ChildProcess[] = [];

beforeAll(async () => {
  [ledger, database] = await Promise.all([startLedger(), createTestDatabase({ isEmpty: true })]);
  gate = await startDatabaseGate(database.databaseUrl);
  opened = await openService(ledger, { credits: 100n });
});

afterAll(async () => {
  const ends = started.filter(({ exitCode }) => exitCode === null).map((one) => once(one, 'exit'));
  for (const child of started) child.kill('SIGTERM');
  await Promise.all(ends);
  await gate.close();
  await Promise.all([ledger.close(), database.close()]);
});

/** @returns what it says in its log, and whether it came to be ready instead of ending */
function start(script: string) {
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL(`../../${script}`, import.meta.url))],
    {
      env: {
        SVC_PARENT_PID: String(process.pid),
        DATABASE_URL: gate.databaseUrl,
        SOLANA_RPC_URL: ledger.rpcUrl,
        SOLANA_WS_URL: ledger.wsUrl,
        SVC_SECRETS_KEY: Buffer.alloc(32).toString('base64'),
        SVC_GATEWAY: opened.gateway.toBase58(),
        SVC_SIGNER_KEY: bs58.encode(opened.hotSigner.secretKey),
        ...Object.fromEntries(
          ['SVC_FEE_PAYER_KEYS', 'SVC_CRANK_KEY'].map((name) => [
            name,
            bs58.encode(Keypair.generate().secretKey),
          ]),
        ),
        ...{ PORT: '0', INDEXER_PORT: '0', LOG_LEVEL: 'warn' },
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  started.push(child);
  const log = createInterface({ input: child.stderr });
  const says = (words: string) =>
    new Promise<void>((resolve) => {
      log.on('line', (line) => JSON.parse(line).msg === words && resolve());
    });
  const ready = Promise.race([
    once(createInterface({ input: child.stdout }), 'line').then(() => 'ready'),
    once(child, 'exit').then(([code]) => `ended with ${code}`),
  ]);
  return { says, ready };
}

describe('an API and an indexer that start before their database', () => {
  it('are ready once it is up, whichever started first', async () => {
    await gate.shut();
    const api = start('api/main.ts');
    const indexer = start('indexer/main.ts');
    await Promise.all([api.says(AWAY), indexer.says(AWAY)]);
    await gate.open();
    expect(await Promise.all([api.ready, indexer.ready])).toEqual(['ready', 'ready']);
  });

  it.each([
    ['an indexer', 'indexer/main.ts', 'svc-webhooks'],
    ['an API', 'api/main.ts', 'worker_observations'],
  ])('%s survives when the database goes down during the start', async (_name, script, words) => {
    gate.cutOn(words);
    const one = start(script);
    expect(await Promise.race([one.says(AWAY), one.ready])).toBeUndefined();
    gate.cutOn(undefined);
    expect(await one.ready).toBe('ready');
  });
});
