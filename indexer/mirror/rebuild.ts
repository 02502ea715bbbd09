import type pg from 'pg';
import type { Database } from '../../common/postgres.ts';
import type { Addresses } from '../../programs/client/addresses.ts';
import type { LedgerEvent } from '../fold/event.ts';
import { FatalError } from '../source/errors.ts';
import { OVERLAP_SLOTS } from '../source/listPages.ts';
import type { LedgerSource } from '../source/source.ts';
import { digestTables } from '../sql/digest.ts';
import { moveCursors } from '../sql/progress.ts';
import { grantToApi } from '../sql/roles.ts';
import { createMirrorSchema, MIRROR_SCHEMA, useSchema } from '../sql/schema.ts';
import { atomically } from '../sql/writeChanges.ts';
import { bindLedger } from './bindLedger.ts';
import { storeFinal } from './finalize.ts';
import { acquireLeadership, awaitGranted, releaseLeadership, tryLock } from './leadership.ts';
import type { MirrorContext } from './progress.ts';
import { applyMissing } from './sweep.ts';

/** Any number that nothing else in this database locks. */
const LOCK_KEY = 7_332_003n;

/** Makes this connection the only one that rebuilds. @throws FatalError when there is one already */
async function lockRebuild(client: Database): Promise<void> {
  if (await tryLock(client, LOCK_KEY)) return;
  throw new FatalError('The mirror is being rebuilt already');
}

/** How far the mirror has come that readers see; 0 before its first sweep. */
async function selectServedCursor(database: Database): Promise<bigint> {
  const { rows } = await database.query<{ slot: bigint }>(
    `select slot from ${MIRROR_SCHEMA}.cursors where name = 'confirmed'`,
  );
  return rows[0]?.slot ?? 0n;
}

/** Where a new mirror is made. */
const NEXT_SCHEMA = 'mirror_next';
/** Where the replaced one stays until it is dropped. */
const PREVIOUS_SCHEMA = 'mirror_previous';

const DROP = {
  attemptMs: 1_000,
  attemptsMax: 60,
  refusal: 'A session keeps reading the old mirror after it was replaced',
};

/** Makes an empty mirror beside the one that is served. */
async function createNextMirror(client: pg.PoolClient): Promise<void> {
  await dropPrevious(client);
  await atomically(client, async () => {
    await client.query(`drop schema if exists ${NEXT_SCHEMA} cascade`);
    await createMirrorSchema(client, NEXT_SCHEMA);
    await grantToApi(client, [NEXT_SCHEMA]);
    // A mirror of a local ledger is marked as one by its comment.
    const { rows } = await client.query<{ comment: string | null }>(
      `select quote_nullable(obj_description('${MIRROR_SCHEMA}'::regnamespace)) as comment`,
    );
    await client.query(`comment on schema ${NEXT_SCHEMA} is ${rows[0]?.comment ?? 'null'}`);
  });
}

/**
 * Puts the new mirror in the place of the old one. Statements name `mirror`, and the server plans
 * prepared ones again. A running statement reads the old tables to its end.
 */
async function switchSchemas(client: pg.PoolClient): Promise<void> {
  await atomically(client, async () => {
    await client.query(`alter schema ${MIRROR_SCHEMA} rename to ${PREVIOUS_SCHEMA}`);
    await client.query(`alter schema ${NEXT_SCHEMA} rename to ${MIRROR_SCHEMA}`);
  });
}

/**
 * Drops what a switch has left, once no session reads it. Not in the switch itself: a slow reader
 * would hold up the drop, and the drop all other readers.
 *
 * @throws RetryableError when a session reads it for a minute; the next rebuild drops it
 */
function dropPrevious(client: pg.PoolClient): Promise<void> {
  return awaitGranted(client, DROP, () =>
    client.query(`drop schema if exists ${PREVIOUS_SCHEMA} cascade`),
  );
}

/** The most signatures that a node takes in one request. */
const PAGE = 256;

/**
 * Applies what the served mirror holds and the new one lacks: what is not final yet, or a node left
 * out of its lists. It reads them from the ledger again.
 */
async function applyServed(context: MirrorContext): Promise<void> {
  const { source } = context;
  for (let page = await selectMissing(context, undefined); page.length > 0; ) {
    const slots = await source.locate(
      page.map(({ signature }) => signature),
      page.at(-1)?.slot ?? 0n,
    );
    await applyMissing(
      context,
      [...slots].map(([signature, slot]) => ({ signature, slot, failed: false })),
    );
    page = await selectMissing(context, page.at(-1));
  }
}

async function selectMissing(
  { database }: MirrorContext,
  after: { signature: string; slot: bigint } | undefined,
): Promise<{ signature: string; slot: bigint }[]> {
  const { rows } = await database.query<{ signature: string; slot: bigint }>(
    `
      select signature, slot from ${MIRROR_SCHEMA}.transactions served
      where (slot, signature) > ($1, $2)
        and not exists (select from transactions where signature = served.signature)
      order by slot, signature limit $3`,
    [after?.slot ?? 0n, after?.signature ?? '', PAGE],
  );
  return rows;
}

/**
 * Makes a new mirror from the ledger beside the old one, which an indexer still keeps. Then it
 * leads for a moment, and replaces the old one in one database transaction. Readers see the old one
 * or the new one, whole.
 *
 * It announces nothing, and applies only what the old mirror holds too. The indexer finds what has
 * landed since at the cursor, and announces it.
 *
 * @param options.onFolded called with the events as they are stored, to show the progress
 * @returns the folded tables whose rows are not what they were: the old ones were wrong
 * @throws RetryableError when the ledger cannot be read or the indexer does not hand over
 * @throws FatalError when another rebuild runs, or the mirror is that of another ledger
 */
export async function rebuildMirror(options: {
  pool: pg.Pool;
  source: LedgerSource;
  addresses: Addresses;
  signal: AbortSignal;
  onFolded: (events: readonly LedgerEvent[]) => void;
}): Promise<{ differing: string[] }> {
  const { pool, source, addresses, signal, onFolded } = options;
  const client = await pool.connect();
  const context: MirrorContext = {
    database: client,
    source,
    addresses,
    signal,
    onFolded,
    commitment: 'confirmed',
    outbox: null,
  };
  try {
    await lockRebuild(client);
    await useSchema(client, MIRROR_SCHEMA);
    await bindLedger(context);
    await createNextMirror(client);
    await useSchema(client, NEXT_SCHEMA);
    await catchUp(context);
    // Readers' plans would be those of empty tables.
    await client.query('analyze');
    await acquireLeadership(client);
    await catchUp(context);
    await switchSchemas(client);
    const differing = await releaseAndCompare(client);
    await dropPrevious(client);
    // The connection's end would release it only a moment later, and refuse a rebuild right after.
    await client.query('select pg_advisory_unlock($1)', [LOCK_KEY]);
    return { differing };
  } finally {
    // The connection's end releases its locks and undoes what is half made.
    client.release(true);
  }
}

/**
 * Compares the two mirrors as they were when the leadership was released. To read every row of a
 * long history takes minutes, in which no indexer would keep the mirror or refund a job.
 *
 * @returns the folded tables that differ
 */
function releaseAndCompare(client: pg.PoolClient): Promise<string[]> {
  return atomically(client, async () => {
    await client.query('set transaction isolation level repeatable read, read only');
    // The first statement sets the moment: no other process leads yet.
    await releaseLeadership(client);
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
  // Above this the old one may still find more.
  let slotMax = served - OVERLAP_SLOTS;
  if (finalizedSlot < slotMax) slotMax = finalizedSlot;
  await storeFinal(context, slotMax);
  await applyServed(context);
  await moveCursors(database, ['confirmed'], served);
}
