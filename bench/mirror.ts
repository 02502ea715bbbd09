import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Connection } from '@solana/web3.js';
import pg from 'pg';
import { limitSet } from '../programs/client/instructions/index.ts';
import { createLogger } from '../runtime/logger.ts';
import { createShutdown } from '../runtime/shutdown.ts';
import { startDatabase } from '../stack/database.ts';
import { startLedger } from '../stack/ledger.ts';
import { submit } from '../stack/operator.ts';
import { openService } from '../tests/support/ledger.ts';
import type { SyncMeasure } from './mirrorSync.ts';

// First syncs of synthetic histories of several lengths (in events; as arguments, or the ones below)
// and of one on the embedded ledger. What should stay the same is the memory, given as a ratio to
// the shortest one's; times say something within one run only.

const LENGTHS = [10_000, 100_000, 1_000_000];
const LEDGER_EVENTS = 20_000;
const EVENTS_PER_TRANSACTION = 20;
/** Less than the collector would let gather; what needed more would end here. */
const HEAP_MEBIBYTES_MAX = 96;
const MEBIBYTE = 1_024 ** 2;

const shutdown = createShutdown({
  logger: createLogger({ name: 'bench', level: 'error' }),
  timeoutMs: 10_000,
});
shutdown.onSignals();
const server = await startDatabase();
shutdown.add('database', server.close);

async function sync(origin: string): Promise<SyncMeasure> {
  const databaseUrl = await createDatabase();
  const script = fileURLToPath(new URL('./mirrorSync.ts', import.meta.url));
  const words = [`--max-old-space-size=${HEAP_MEBIBYTES_MAX}`, script, databaseUrl, origin];
  const { stdout } = await promisify(execFile)(process.execPath, words);
  return JSON.parse(stdout) as SyncMeasure;
}

let databases = 0;

async function createDatabase(): Promise<string> {
  databases += 1;
  const client = new pg.Client({ connectionString: server.databaseUrl });
  await client.connect();
  await client.query(`create database mirror_${databases}`);
  await client.end();
  const databaseUrl = new URL(server.databaseUrl);
  databaseUrl.pathname = `mirror_${databases}`;
  return databaseUrl.href;
}

/** A history on the embedded ledger: one wallet changes its limits again and again. */
async function syncLedger(): Promise<SyncMeasure> {
  const ledger = await startLedger();
  const connection = new Connection(ledger.rpcUrl, {
    wsEndpoint: ledger.wsUrl,
    commitment: 'confirmed',
  });
  const { operator, wallet } = await openService({ connection, payer: ledger.payer });
  for (let events = 0; events < LEDGER_EVENTS; events += EVENTS_PER_TRANSACTION) {
    const changes = Array.from({ length: EVENTS_PER_TRANSACTION }, (_, position) =>
      limitSet({
        wallet: wallet.publicKey,
        limitPerJobCredits: BigInt(events + position),
        limitPerDayCredits: BigInt(events),
      }),
    );
    await submit(operator, changes, [wallet]);
  }
  const measure = await sync(ledger.rpcUrl);
  ledger.close();
  return measure;
}

function report(history: string, measure: SyncMeasure, shortest: SyncMeasure): void {
  const { events, elapsedMs, peakBytes } = measure;
  const perSecond = Math.round(events / (elapsedMs / 1_000));
  const memory = `${Math.round(peakBytes / MEBIBYTE)} MiB at most`;
  const ratio = (peakBytes / shortest.peakBytes).toFixed(2);
  console.log(`${history}, ${events} events: ${perSecond} a second, ${memory} (${ratio} ×)`);
}

try {
  const lengths = process.argv.length > 2 ? process.argv.slice(2).map(Number) : LENGTHS;
  const [first = 0, ...longer] = lengths;
  const shortest = await sync(String(first));
  report('synthetic', shortest, shortest);
  for (const events of longer) report('synthetic', await sync(String(events)), shortest);
  report('embedded ledger', await syncLedger(), shortest);
} finally {
  await shutdown.run();
}
