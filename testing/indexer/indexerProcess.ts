import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { base58 } from '@scure/base';
import { Keypair } from '@solana/web3.js';
import type { TimeLimits } from '../../indexer/timeLimits.ts';
import { MACHINE_ENVIRONMENT, type StartedProcess, startProcess } from '../childProcess.ts';
import type { TestLedger } from '../ledger/ledger.ts';
import { startIndexerInProcess as startInside, type TestIndexer } from './inProcessIndexer.ts';

const MAIN = 'indexer/main.ts';
const LAMPORTS = 10e9;
/** The sealing key of tests. */
export const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');

/** Starts the indexer as an operator would, with its own crank key. */
export async function startIndexer(
  ledger: TestLedger,
  databaseUrl: string,
  settings: Record<string, string> = {},
): Promise<StartedProcess> {
  return startProcess(MAIN, {
    ...(await environmentFor(ledger, databaseUrl)),
    ...settings,
  });
}

/** Starts the indexer inside the test's process, for tests that need no second process. */
export async function startIndexerInProcess(
  ledger: TestLedger,
  databaseUrl: string,
  settings: Record<string, string> = {},
  limits: Partial<TimeLimits> = {},
): Promise<TestIndexer> {
  return startInside({ ...(await environmentFor(ledger, databaseUrl)), ...settings }, limits);
}

/** Runs an indexer that ends by itself. @returns its exit code */
export async function runIndexer(ledger: TestLedger, databaseUrl: string): Promise<number | null> {
  const path = fileURLToPath(new URL(`../../${MAIN}`, import.meta.url));
  const environment = await environmentFor(ledger, databaseUrl);
  const child = spawn(process.execPath, [path], {
    env: { ...MACHINE_ENVIRONMENT, SVC_PARENT_PID: String(process.pid), ...environment },
    stdio: 'ignore',
  });
  const [code] = await once(child, 'exit');
  return code;
}

async function environmentFor(
  ledger: TestLedger,
  databaseUrl: string,
): Promise<Record<string, string>> {
  const crank = Keypair.generate();
  await ledger.fundLamports(crank.publicKey, LAMPORTS);
  return {
    DATABASE_URL: databaseUrl,
    SOLANA_RPC_URL: ledger.rpcUrl,
    SOLANA_WS_URL: ledger.wsUrl,
    SVC_CRANK_KEY: base58.encode(crank.secretKey),
    SVC_SECRETS_KEY: SECRETS_KEY,
    INDEXER_PORT: '0',
    // Half a minute, as `npm start` sets it: the local ledger's slots are forty times shorter.
    INDEXER_LAG_SLOTS_MAX: '6000',
    LOG_LEVEL: 'fatal',
  };
}
