import { migrate } from '../indexer/migrate.ts';
import { bindLedger } from '../indexer/mirror/bindLedger.ts';
import type { MirrorContext } from '../indexer/mirror/context.ts';
import { finalize } from '../indexer/mirror/finalize.ts';
import { sweep } from '../indexer/mirror/sweep.ts';
import { MIRROR_SCHEMA, useSchema } from '../indexer/mirrorSchema.ts';
import { createRpc } from '../indexer/source/rpc.ts';
import { createLedgerSource, type LedgerSource } from '../indexer/source/source.ts';
import { createAddresses, PROGRAM_ID } from '../programs/client/addresses.ts';
import { createPool } from '../runtime/postgres.ts';
import { createSyntheticSource, EVENTS_PER_TRANSACTION } from '../tests/indexer/syntheticSource.ts';

// A process of its own for each first sync, so that its peak of memory is that sync's alone.
// Arguments: the database, and either the number of synthetic events or a node's address.

/** What a first sync took. */
export interface SyncMeasure {
  readonly events: number;
  readonly elapsedMs: number;
  readonly peakBytes: number;
}

async function measure(databaseUrl: string, source: LedgerSource): Promise<SyncMeasure> {
  const pool = createPool({ databaseUrl, applicationName: 'svc-bench' });
  await migrate(pool);
  const client = await pool.connect();
  await useSchema(client, MIRROR_SCHEMA);
  let events = 0;
  const context: MirrorContext = {
    ...{ database: client, source, addresses: createAddresses(), commitment: 'confirmed' },
    ...{ announcer: null, signal: new AbortController().signal },
    onFolded(folded) {
      events += folded.length;
    },
  };
  const startMs = performance.now();
  await bindLedger(context);
  await finalize(context);
  await sweep(context);
  const elapsedMs = performance.now() - startMs;
  client.release();
  await pool.end();
  return { events, elapsedMs, peakBytes: process.resourceUsage().maxRSS * 1_024 };
}

function openSource(origin: string): LedgerSource {
  if (URL.canParse(origin)) {
    return createLedgerSource({ rpc: createRpc(origin), programId: PROGRAM_ID });
  }
  return createSyntheticSource(Math.ceil(Number(origin) / EVENTS_PER_TRANSACTION));
}

const [databaseUrl = '', origin = ''] = process.argv.slice(2);
console.log(JSON.stringify(await measure(databaseUrl, openSource(origin))));
