import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { createPool } from '../../common/postgres.ts';
import { startDatabase } from '../../stack/database.ts';
import { createSyntheticSource } from '../../testing/indexer/syntheticSource.ts';
import { openService, startLedger } from '../../testing/ledger/ledger.ts';
import { createRandom } from '../../testing/random.ts';
import { creditsFor } from '../ledgerJobs.ts';
import { createBenchShutdown } from '../processes.ts';
import { type BareInsert, insertBare } from './bareInsert.ts';
import { fillLedger } from './fillLedger.ts';
import { measureLag } from './lag.ts';
import { lagTable, type MeasuredSync, syncTable } from './report.ts';
import { runSync } from './runSync.ts';

// Measures the mirror. First syncs of synthetic histories of several lengths should need equal memory.
// Its lag behind a live ledger follows, and a first sync of that ledger.

const SHORT = { events: ['2000', '10000'], live: '40', ledgerEvents: '600' };
const LONG = { events: ['10000', '100000', '1000000'], live: '200', ledgerEvents: '20000' };
const BARE_TRANSACTIONS = 1_000;

const { values } = parseArgs({
  options: {
    long: { type: 'boolean' },
    /** The length of a synthetic history; repeat it for several. */
    events: { type: 'string', multiple: true },
    /** The number of jobs that are locked on the local ledger to measure the lag. */
    live: { type: 'string' },
    /** The number of further events on that ledger. */
    'ledger-events': { type: 'string' },
  },
});
const { 'ledger-events': ledgerEvents, ...given } = values;
const sizes = { ...(values.long ? LONG : SHORT), ...given, ...(ledgerEvents && { ledgerEvents }) };

const shutdown = createBenchShutdown();
const { databaseUrl: serverUrl, close } = await startDatabase();
shutdown.add('database', close);
let databases = 0;

try {
  console.log(`Node ${process.version}, ${availableParallelism()} processors, ${process.platform}`);
  const bare = await measureBare();
  await syncSynthetic(bare);
  await followLedger(bare);
} finally {
  await shutdown.run();
}
// web3.js would continue to call the closed ledger.
process.exit();

/** @returns the address of a new, empty database */
async function createDatabase(): Promise<string> {
  databases += 1;
  const databaseUrl = new URL(serverUrl);
  databaseUrl.pathname = `bench_${databases}`;
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  await client.query(`create database bench_${databases}`);
  await client.end();
  return databaseUrl.href;
}

async function measureBare(): Promise<BareInsert> {
  const databaseUrl = await createDatabase();
  const pool = createPool({ databaseUrl, applicationName: 'svc-bench' });
  const source = createSyntheticSource(BARE_TRANSACTIONS);
  const bare = await insertBare(pool, { source, transactions: BARE_TRANSACTIONS });
  await pool.end();
  console.log(`Bare insert: ${Math.round(bare.perSecond)} events a second`);
  return bare;
}

async function syncSynthetic(bare: BareInsert): Promise<void> {
  const syncs: MeasuredSync[] = [];
  for (const events of sizes.events.map(Number)) {
    const progress = await runSync(await createDatabase(), { events });
    syncs.push({ name: 'synthetic', progress });
  }
  console.log(syncTable(syncs, bare));
}

async function followLedger(bare: BareInsert): Promise<void> {
  const [live, events] = [Number(sizes.live), Number(sizes.ledgerEvents)];
  const random = createRandom();
  console.log(`Seed ${random.seed}`);
  const ledger = await startLedger();
  shutdown.add('ledger', ledger.close);
  const service = await openService(ledger, { credits: creditsFor(live + 1) });
  const databaseUrl = await createDatabase();
  const lagsMs = await measureLag({ ledger, service, databaseUrl, locks: live, random });
  console.log(lagTable(lagsMs, bare));

  const startMs = performance.now();
  await fillLedger(ledger, service, events);
  const perSecond = (events * 1_000) / (performance.now() - startMs);
  console.log(`The local ledger made ${perSecond.toFixed(0)} events a second`);
  const history = { events: live + events, rpcUrl: ledger.rpcUrl };
  const progress = await runSync(await createDatabase(), history);
  console.log(syncTable([{ name: 'local ledger', progress }], bare));
}
