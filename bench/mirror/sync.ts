import { readFileSync } from 'node:fs';
import type pg from 'pg';
import { createPool } from '../../common/postgres.ts';
import { bindLedger } from '../../indexer/mirror/bindLedger.ts';
import { finalize } from '../../indexer/mirror/finalize.ts';
import type { MirrorContext } from '../../indexer/mirror/progress.ts';
import { sweep } from '../../indexer/mirror/sweep.ts';
import { compareJournal } from '../../indexer/reconcile/journal.ts';
import { connectNode } from '../../indexer/source/node.ts';
import { createLedgerSource, type LedgerSource } from '../../indexer/source/source.ts';
import { migrate } from '../../indexer/sql/migrate.ts';
import { serveMirror } from '../../indexer/sql/schema.ts';
import { createAddresses, PROGRAM_ID } from '../../programs/client/addresses.ts';
import {
  createSyntheticSource,
  EVENTS_PER_TRANSACTION,
} from '../../testing/indexer/syntheticSource.ts';

// A first sync in its own process, so that its memory is measured alone. Needs --expose-gc.
// Arguments: the database, the approximate number of events, and a node's address; without a node
// they are synthetic. Prints a line of JSON at each tenth, and one at the end.

/** The progress of a first sync and its use of memory. */
export interface SyncProgress {
  readonly events: number;
  readonly elapsedMs: number;
  /** Processor time of this process, and of the connection's server process; 0 where that is not Linux. */
  readonly ownMs: number;
  readonly databaseMs: number;
  /** The heap in use after a collection. */
  readonly heapBytes: number;
  /** The peak of the process, including uncollected memory. */
  readonly peakBytes: number;
}

const STEPS = 10;

/** @throws Error unless the tables equal a new fold of the journal */
async function sync(
  databaseUrl: string,
  source: LedgerSource,
  eventsExpected: number,
): Promise<void> {
  const pool = createPool({ databaseUrl, applicationName: 'svc-bench' });
  await migrate(pool);
  const client = await pool.connect();
  await serveMirror(client);
  const addresses = createAddresses();
  const { signal } = new AbortController();
  const startMs = performance.now();
  let read = 0;
  let folded = 0;
  const { processID } = client as pg.PoolClient & { processID: number };
  const before = { own: process.cpuUsage(), databaseMs: readDatabaseMs(processID) };
  const print = () => {
    const { user, system } = process.cpuUsage(before.own);
    const databaseMs = readDatabaseMs(processID) - before.databaseMs;
    const times = { ownMs: (user + system) / 1_000, databaseMs };
    console.log(JSON.stringify(measure(folded, performance.now() - startMs, times)));
  };
  const stepOf = (events: number) => Math.floor((events * STEPS) / eventsExpected);
  const context: MirrorContext = {
    database: client,
    addresses,
    commitment: 'confirmed',
    outbox: null,
    signal,
    source: {
      ...source,
      async read(listed) {
        const transaction = await source.read(listed);
        read += transaction.events.length;
        return transaction;
      },
    },
    onFolded({ length }) {
      folded += length;
      if (stepOf(folded) > stepOf(folded - length)) print();
    },
  };
  await bindLedger(context);
  await finalize(context);
  await sweep(context);
  print();
  const missing = eventsExpected - EVENTS_PER_TRANSACTION - folded;
  if (missing > 0) throw new Error(`${missing} events or more were left out`);
  if (folded !== read) throw new Error(`Of ${read} events that were read ${folded} were folded`);
  const [difference] = await compareJournal(pool, addresses, signal);
  if (difference) throw new Error(`The tables are not the journal: ${difference.address}`);
  client.release();
  await pool.end();
}

/** The time on a processor of a server process on this machine. */
function readDatabaseMs(processId: number): number {
  if (process.platform !== 'linux') return 0;
  const [nanoseconds] = readFileSync(`/proc/${processId}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1_000_000;
}

function measure(
  events: number,
  elapsedMs: number,
  times: Pick<SyncProgress, 'ownMs' | 'databaseMs'>,
): SyncProgress {
  if (!globalThis.gc) throw new Error('Needs --expose-gc');
  globalThis.gc();
  const peakBytes = process.resourceUsage().maxRSS * 1_024;
  const { heapUsed: heapBytes } = process.memoryUsage();
  return { events, elapsedMs, ...times, heapBytes, peakBytes };
}

const [databaseUrl = '', events = '', rpcUrl] = process.argv.slice(2);
await sync(
  databaseUrl,
  rpcUrl === undefined
    ? createSyntheticSource(Math.ceil(Number(events) / EVENTS_PER_TRANSACTION))
    : createLedgerSource({ node: connectNode({ url: rpcUrl }), programId: PROGRAM_ID }),
  Number(events),
);
