import type pg from 'pg';
import type { Database } from '../../common/postgres.ts';
import type { Addresses } from '../../programs/client/addresses.ts';
import type { LedgerEvent } from '../fold/event.ts';
import { FatalError, RetryableError } from '../source/errors.ts';
import { OVERLAP_SLOTS } from '../source/listPages.ts';
import type { LedgerSource } from '../source/source.ts';
import { digestTables } from '../sql/digest.ts';
import { moveCursors } from '../sql/progress.ts';
import { grantToApi } from '../sql/roles.ts';
import { createMirrorSchema, MIRROR_SCHEMA, useSchema } from '../sql/schema.ts';
import { atomically } from '../sql/writeChanges.ts';
import { bindLedger } from './bindLedger.ts';
import { storeFinal } from './finalize.ts';
import { handBack, takeOver } from './leadership.ts';
import type { MirrorContext } from './progress.ts';
import { applyMissing } from './sweep.ts';

/** Any number that nothing else in this database locks. */
const LOCK_KEY = 7_332_003n;

/** Makes this connection the only one that rebuilds. @throws FatalError when there is one already */
async function claimRebuild(client: Database): Promise<void> {
  const { rows } = await client.query<{ acquired: boolean }>(
    'select pg_try_advisory_lock($1) as acquired',
    [LOCK_KEY],
  );
  if (!rows[0]?.acquired) throw new FatalError('The mirror is being rebuilt already');
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
/** Where the one that it replaces is left, until it is dropped. */
const PREVIOUS_SCHEMA = 'mirror_previous';

const DROP_ATTEMPTS_MAX = 60;
const DROP_ATTEMPT_MS = 1_000;
/** SQLSTATE of a lock that was not granted within `lock_timeout`. */
const LOCK_NOT_AVAILABLE = '55P03';

/** Makes an empty mirror beside the one that is served. */
async function makeNext(client: pg.PoolClient): Promise<void> {
  await dropPrevious(client);
  await atomically(client, async () => {
    await client.query(`drop schema if exists ${NEXT_SCHEMA} cascade`);
    await createMirrorSchema(client, NEXT_SCHEMA);
    await grantToApi(client, NEXT_SCHEMA);
    // A mirror of a local ledger is marked as one by its comment.
    const { rows } = await client.query<{ comment: string | null }>(
      `select quote_nullable(obj_description('${MIRROR_SCHEMA}'::regnamespace)) as comment`,
    );
    await client.query(`comment on schema ${NEXT_SCHEMA} is ${rows[0]?.comment ?? 'null'}`);
  });
}

/**
 * Puts the new mirror in the place of the old one. Statements name `mirror`, prepared ones too: the
 * server plans them again. One that is under way reads the old tables to its end.
 */
async function switchSchemas(client: pg.PoolClient): Promise<void> {
  await atomically(client, async () => {
    await client.query(`alter schema ${MIRROR_SCHEMA} rename to ${PREVIOUS_SCHEMA}`);
    await client.query(`alter schema ${NEXT_SCHEMA} rename to ${MIRROR_SCHEMA}`);
  });
}

/**
 * Drops what a switch has left, once nobody reads it any more. Not in the switch itself: a slow
 * reader would hold up the drop, and the drop everybody else.
 *
 * @throws RetryableError when somebody reads it for a minute; the next rebuild drops it
 */
async function dropPrevious(client: pg.PoolClient): Promise<void> {
  await client.query(`set lock_timeout = ${DROP_ATTEMPT_MS}`);
  for (let attempt = 1; ; attempt += 1) {
    try {
      await client.query(`drop schema if exists ${PREVIOUS_SCHEMA} cascade`);
      await client.query('reset lock_timeout');
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error;
      if (attempt === DROP_ATTEMPTS_MAX) {
        throw new RetryableError('Somebody keeps reading an old mirror that was replaced', {
          cause: error,
        });
      }
    }
  }
}

/** The most signatures that a node takes in one question. */
const PAGE = 256;

/**
 * Applies what the served mirror holds and the new one lacks, read from the ledger like everything
 * else: what is not final yet, and what a node may have left out of its lists.
 */
async function copyTold(context: MirrorContext): Promise<void> {
  const { source } = context;
  for (let page = await selectLacking(context, undefined); page.length > 0; ) {
    const slots = await source.locate(
      page.map(({ signature }) => signature),
      page.at(-1)?.slot ?? 0n,
    );
    await applyMissing(
      context,
      [...slots].map(([signature, slot]) => ({ signature, slot, failed: false })),
    );
    page = await selectLacking(context, page.at(-1));
  }
}

async function selectLacking(
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

/** How a mirror that was made anew compares with the one in whose place it is. */
interface Rebuild {
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
    database: client,
    source,
    addresses,
    signal,
    onFolded,
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
    // The connection's end would release it only a moment later, and refuse a rebuild right after.
    await client.query('select pg_advisory_unlock($1)', [LOCK_KEY]);
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
