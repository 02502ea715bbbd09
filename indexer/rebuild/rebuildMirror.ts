import type pg from 'pg';
import type { Addresses } from '../../programs/client/addresses.ts';
import { atomically } from '../apply/atomically.ts';
import type { LedgerEvent } from '../decode.ts';
import { digestTables } from '../digest.ts';
import { handBack, takeOver } from '../leadership.ts';
import { bindLedger } from '../mirror/bindLedger.ts';
import type { MirrorContext } from '../mirror/context.ts';
import { storeFinal } from '../mirror/storeFinal.ts';
import { MIRROR_SCHEMA, useSchema } from '../mirrorSchema.ts';
import { OVERLAP_SLOTS } from '../source/listPages.ts';
import type { LedgerSource } from '../source/source.ts';
import { moveCursors } from '../statements/cursors.ts';
import { claimRebuild } from './claimRebuild.ts';
import { copyTold } from './copyTold.ts';
import { dropPrevious, makeNext, NEXT_SCHEMA, PREVIOUS_SCHEMA, switchSchemas } from './schemas.ts';
import { selectServedCursor } from './selectServedCursor.ts';

/** How a mirror that was made anew compares with the one in whose place it is. */
export interface Rebuild {
  /** Folded tables whose rows are not what they were: the old ones were wrong. */
  readonly differing: readonly string[];
}

/**
 * Makes the mirror anew from the ledger beside the old one, which is served and kept meanwhile;
 * then takes its indexer's place for a moment and puts the new one in its place, in one database
 * transaction. Readers see the old one or the new one, whole.
 *
 * It announces nothing, and so holds nothing that the old one has not: what has landed since is
 * left to the indexer, which finds it at the cursor, for the first time.
 *
 * @param options.onFolded told of the events as they are stored, to show how it goes on
 * @throws RetryableError when the ledger cannot be read or the indexer does not make place
 * @throws FatalError when another rebuild runs, or the mirror is that of another ledger
 */
export async function rebuildMirror(options: {
  pool: pg.Pool;
  source: LedgerSource;
  addresses: Addresses;
  signal: AbortSignal;
  onFolded: (events: readonly LedgerEvent[]) => void;
}): Promise<Rebuild> {
  const { pool, source, addresses, signal, onFolded } = options;
  const client = await pool.connect();
  const context: MirrorContext = {
    ...{ database: client, source, addresses, signal, onFolded },
    commitment: 'confirmed',
    announcer: null,
  };
  try {
    await claimRebuild(client);
    await useSchema(client, MIRROR_SCHEMA);
    await bindLedger(context);
    await makeNext(client);
    await useSchema(client, NEXT_SCHEMA);
    await bindLedger(context);
    await catchUp(context);
    // Readers' plans would be those of empty tables.
    await client.query('analyze');
    await takeOver(client);
    await catchUp(context);
    await switchSchemas(client);
    const differing = await handBackAndCompare(client);
    await dropPrevious(client);
    return { differing };
  } finally {
    // Whatever it has locked or half made, the connection's end lets go of.
    client.release(true);
  }
}

/**
 * Compares the two mirrors as they were when the indexer got its place back: to read every row of a
 * long history takes minutes, in which nobody would keep the mirror or refund a job.
 *
 * @returns the folded tables that differ
 */
function handBackAndCompare(client: pg.PoolClient): Promise<string[]> {
  return atomically(client, async () => {
    await client.query('set transaction isolation level repeatable read, read only');
    // The moment is that of this statement's beginning, when there is nobody else yet.
    await handBack(client);
    const old = await digestTables(client, PREVIOUS_SCHEMA);
    const made = await digestTables(client);
    return Object.keys(old).filter((table) => old[table] !== made[table]);
  });
}

/** Brings the new mirror to where the old one is, and not beyond. */
async function catchUp(context: MirrorContext): Promise<void> {
  const { database, source } = context;
  const finalizedSlot = await source.slot('finalized');
  const served = await selectServedCursor(database);
  // Above this the old one may find more yet.
  let slotMax = served - OVERLAP_SLOTS;
  if (finalizedSlot < slotMax) slotMax = finalizedSlot;
  await storeFinal(context, slotMax);
  await copyTold(context);
  await moveCursors(database, ['confirmed'], served);
}
