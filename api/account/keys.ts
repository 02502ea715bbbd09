import { hash, randomInt } from 'node:crypto';
import type pg from 'pg';
import { inTransaction } from '../../common/postgres.ts';
import type { KeyStatus } from '../sql/accounts.ts';

const PREFIX = 'svc_live_';
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const SECRET_LENGTH = 32;
const UNIQUE_VIOLATION = '23505';

/** A wallet's key as an operator may see it; the key itself is kept by nobody but its owner. */
interface KeyRecord {
  wallet: string;
  status: KeyStatus;
  created_at: Date;
  /** Of a suspended key: who suspended it, and why. */
  suspended_by: 'operator' | 'indexer' | null;
  suspension_reason: string | null;
}

/** The wallet already has a live key, and there is one key per wallet. */
export class KeyExistsError extends Error {
  override name = 'KeyExistsError';
}

/** The wallet has no key in the state that the change needs. */
export class KeyNotFoundError extends Error {
  override name = 'KeyNotFoundError';
}

/**
 * The only form in which a key is stored. A fast hash is enough: 32 characters of 62 carry 190 bits,
 * so nobody finds a key from its hash by trying.
 */
export function hashKey(key: string): string {
  return hash('sha256', key);
}

function generateKey(): string {
  const characters = Array.from(
    { length: SECRET_LENGTH },
    () => ALPHABET[randomInt(ALPHABET.length)],
  );
  return PREFIX + characters.join('');
}

/**
 * Makes the wallet's key.
 *
 * @returns the key, which cannot be had again
 * @throws KeyExistsError when the wallet has a live key
 */
export async function createKey(database: pg.Pool, wallet: string): Promise<string> {
  return insertKey(database, wallet);
}

/**
 * Revokes the wallet's live key and makes another in one transaction, so that there is no moment
 * with two keys or, for the owner, with none. A suspension cannot be shaken off this way.
 *
 * @throws KeyNotFoundError when the wallet has no active key
 */
export async function regenerateKey(database: pg.Pool, wallet: string): Promise<string> {
  return changeKey(database, wallet, async (client) => {
    await endKey(client, wallet, ['active']);
    return insertKey(client, wallet);
  });
}

/** Ends the wallet's key for good. @throws KeyNotFoundError when there is none */
export async function revokeKey(database: pg.Pool, wallet: string): Promise<void> {
  await changeKey(database, wallet, (client) => endKey(client, wallet, ['active', 'suspended']));
}

/**
 * Stops the wallet's key until it is reinstated, and journals why.
 *
 * @throws KeyNotFoundError when none is active
 */
export async function suspendKey(
  database: pg.Pool,
  wallet: string,
  reason = 'not given',
): Promise<void> {
  const { rowCount } = await changeKey(database, wallet, (client) =>
    client.query(
      `with suspended as (
         update service.api_keys set status = 'suspended'
         where wallet = $1 and status = 'active' returning key_sha256, wallet
       )
       insert into service.key_suspensions (key_sha256, wallet, suspended_by, reason)
       select key_sha256, wallet, 'operator', $2 from suspended`,
      [wallet, reason],
    ),
  );
  if (rowCount === 0) throw notFound(wallet, ['active']);
}

/**
 * Ends a suspension. What the wallet did before is forgiven: none of its jobs until now counts as
 * abuse any more.
 *
 * @throws KeyNotFoundError when no key of the wallet is suspended
 */
export async function reinstateKey(database: pg.Pool, wallet: string): Promise<void> {
  const { rowCount } = await database.query(
    `with lifted as (
       update service.api_keys set status = 'active'
       where wallet = $1 and status = 'suspended' returning key_sha256
     )
     update service.key_suspensions suspension
     set lifted_at = now(),
         forgiven_until = greatest(
           suspension.judged_at, (select max(locked_at) from mirror.jobs where wallet = $1), 0
         )
     from lifted
     where suspension.key_sha256 = lifted.key_sha256 and suspension.lifted_at is null`,
    [wallet],
  );
  if (rowCount === 0) throw notFound(wallet, ['suspended']);
}

/** All keys ever made, newest first. */
export async function listKeys(database: pg.Pool): Promise<KeyRecord[]> {
  const { rows } = await database.query<KeyRecord>(
    `select key.wallet, key.status, key.created_at,
            suspension.suspended_by, suspension.reason as suspension_reason
     from service.api_keys key
     left join service.key_suspensions suspension
       on suspension.key_sha256 = key.key_sha256
       and key.status = 'suspended' and suspension.lifted_at is null
     order by key.created_at desc`,
  );
  return rows;
}

type Queryable = Pick<pg.ClientBase, 'query'>;

/**
 * Changes a wallet's key after all earlier changes. A statement that waited for a regeneration would
 * find the old key revoked and not see the new one, which a revocation would leave live.
 */
function changeKey<Result>(
  database: pg.Pool,
  wallet: string,
  change: (client: Queryable) => Promise<Result>,
): Promise<Result> {
  return inTransaction(database, async (client) => {
    await client.query(`select pg_advisory_xact_lock(hashtextextended('key ' || $1, 0))`, [wallet]);
    return change(client);
  });
}

async function insertKey(database: Queryable, wallet: string): Promise<string> {
  const key = generateKey();
  try {
    await database.query(
      `insert into service.api_keys (key_sha256, wallet, status) values ($1, $2, 'active')`,
      [hashKey(key), wallet],
    );
  } catch (error) {
    if ((error as { code?: string }).code !== UNIQUE_VIOLATION) throw error;
    throw new KeyExistsError(`The wallet ${wallet} already has a key.`, { cause: error });
  }
  return key;
}

async function endKey(database: Queryable, wallet: string, from: KeyStatus[]): Promise<void> {
  const { rowCount } = await database.query(
    `update service.api_keys set status = 'revoked', revoked_at = now()
     where wallet = $1 and status = any($2)`,
    [wallet, from],
  );
  if (rowCount === 0) throw notFound(wallet, from);
}

function notFound(wallet: string, wanted: KeyStatus[]): KeyNotFoundError {
  return new KeyNotFoundError(`The wallet ${wallet} has no ${wanted.join(' or ')} key.`);
}
