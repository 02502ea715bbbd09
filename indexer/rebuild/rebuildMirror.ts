import type pg from 'pg';
import type { Addresses } from '../../programs/client/addresses.ts';
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
import { dropPrevious, makeNext, NEXT_SCHEMA, switchSchemas } from './schemas.ts';
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
    const old = await digestTables(client, MIRROR_SCHEMA);
    const made = await digestTables(client, NEXT_SCHEMA);
    await switchSchemas(client);
    await handBack(client);
    await dropPrevious(client);
    return { differing: Object.keys(old).filter((table) => old[table] !== made[table]) };
  } finally {
    // Whatever it has locked or half made, the connection's end lets go of.
    client.release(true);
  }
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
