import { randomInt } from 'node:crypto';
import type pg from 'pg';
import { type Database, inTransaction } from '../../common/postgres.ts';
import { hashKey, type KeyStatus, lockKeys, type OpenSuspension } from '../sql/accounts.ts';
import { assertNotSuspended } from './suspensions.ts';

const PREFIX = 'svc_live_';
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const SECRET_LENGTH = 32;
const UNIQUE_VIOLATION = '23505';

/** What an operator may see of a wallet's key. Only its owner has the key itself. */
interface KeyRecord {
  /** The position in the list: microseconds since 1970. */
  place: bigint;
  wallet: string;
  status: KeyStatus;
  /** Null for a suspended wallet without a live key. */
  created_at: Date | null;
  /** When and why the wallet was suspended, and by which side; null if it is not. */
  suspended_at: Date | null;
  suspended_by: OpenSuspension['suspended_by'] | null;
  suspension_reason: string | null;
}

/** The wallet already has a live key, and there is one key per wallet. */
export class KeyExistsError extends Error {
  override name = 'KeyExistsError';
}

export class KeyNotFoundError extends Error {
  override name = 'KeyNotFoundError';
}

/** The wallet's key is younger than the request to replace it, and stays. */
export class KeyReplacedError extends Error {
  override name = 'KeyReplacedError';
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
 * @throws WalletSuspendedError
 * @throws KeyExistsError when the wallet has a live key
 */
export async function createKey(database: pg.Pool, wallet: string): Promise<string> {
  return inTransaction(database, async (client) => {
    await lockKeys(client, wallet);
    await assertNotSuspended(client, wallet);
    return insertKey(client, wallet);
  });
}

/**
 * Revokes the wallet's live key and makes another in one transaction, so that there is never a moment
 * with two keys, or with none. A key that was made after the request came stays: its reader would
 * otherwise have a dead one.
 *
 * @param arrivedMs when the request came, by `performance.now()`; by default now
 * @throws WalletSuspendedError
 * @throws KeyNotFoundError when the wallet has no live key
 * @throws KeyReplacedError when its key is younger than the request
 */
export async function regenerateKey(
  database: pg.Pool,
  wallet: string,
  arrivedMs = performance.now(),
): Promise<string> {
  return inTransaction(database, async (client) => {
    // Both times are by the database's clock, since this process's may differ.
    const { rows: arrivals } = await client.query<{ arrived_at: string }>(
      `select (clock_timestamp() - $1 * interval '1 millisecond')::text as arrived_at`,
      [performance.now() - arrivedMs],
    );
    await lockKeys(client, wallet);
    await assertNotSuspended(client, wallet);
    // A time in the future is older: the clock was set back since.
    const { rows } = await client.query<{ is_younger: boolean }>(
      `select created_at > $2::timestamptz and created_at <= clock_timestamp() as is_younger
       from service.api_keys where wallet = $1 and revoked_at is null`,
      [wallet, arrivals[0]?.arrived_at],
    );
    if (rows[0]?.is_younger) {
      throw new KeyReplacedError(`The key of ${wallet} was replaced by another request.`);
    }
    await endKey(client, wallet);
    return insertKey(client, wallet);
  });
}

/**
 * Ends the wallet's key for good. A suspension stays.
 *
 * @throws KeyNotFoundError when there is none
 */
export async function revokeKey(database: pg.Pool, wallet: string): Promise<void> {
  await inTransaction(database, async (client) => {
    // A statement that waited for a regeneration would find the old key revoked and not see the
    // new one, which it would leave live.
    await lockKeys(client, wallet);
    await endKey(client, wallet);
  });
}

/**
 * All live keys, those that were revoked lately, and suspended wallets without a live key, newest
 * first.
 *
 * @param filter.before only those before this place
 * @param filter.limit by default all
 */
export async function listKeys(
  database: Database,
  filter: {
    status?: KeyStatus | undefined;
    wallet?: string | undefined;
    before?: bigint | undefined;
    limit?: number;
  } = {},
): Promise<KeyRecord[]> {
  const { rows } = await database.query<KeyRecord>(
    `select * from (
       select (extract(epoch from key.created_at) * 1000000)::bigint as place, key.wallet,
         case when key.revoked_at is not null then 'revoked'
              when suspension.id is not null then 'suspended'
              else 'active' end as status,
         key.created_at, suspension.suspended_at, suspension.suspended_by,
         suspension.reason as suspension_reason
       from service.api_keys key
       left join service.key_suspensions suspension
         on suspension.wallet = key.wallet and suspension.lifted_at is null
         and key.revoked_at is null
       union all
       select (extract(epoch from suspended_at) * 1000000)::bigint, wallet, 'suspended', null,
         suspended_at, suspended_by, reason
       from service.key_suspensions suspension
       where lifted_at is null and not exists (
         select from service.api_keys key
         where key.wallet = suspension.wallet and key.revoked_at is null
       )
     ) record
     where ($1::text is null or status = $1) and ($2::text is null or wallet = $2)
       and ($3::bigint is null or place < $3)
     order by place desc limit $4`,
    [filter.status ?? null, filter.wallet ?? null, filter.before ?? null, filter.limit ?? null],
  );
  return rows;
}

/** Kept for the operator's list. Without a bound one owner could fill the table. */
const REVOKED_KEYS_PER_WALLET_MAX = 20;

async function insertKey(database: Database, wallet: string): Promise<string> {
  const key = generateKey();
  try {
    await database.query(
      `insert into service.api_keys (key_sha256, wallet, status, created_at)
       values ($1, $2, 'active', clock_timestamp())`,
      [hashKey(key), wallet],
    );
  } catch (error) {
    if ((error as { code?: string }).code !== UNIQUE_VIOLATION) throw error;
    throw new KeyExistsError(`The wallet ${wallet} already has a key.`, { cause: error });
  }
  return key;
}

/** Revokes the live key, and forgets the oldest of the revoked ones where there are many. */
async function endKey(database: Database, wallet: string): Promise<void> {
  const { rowCount } = await database.query(
    `update service.api_keys set status = 'revoked', revoked_at = clock_timestamp()
     where wallet = $1 and revoked_at is null`,
    [wallet],
  );
  if (rowCount === 0) throw new KeyNotFoundError(`The wallet ${wallet} has no key.`);
  await database.query(
    `select from service.delete_rows('api_keys', array(
       select ctid from service.api_keys where wallet = $1 and revoked_at is not null
       order by revoked_at desc offset ${REVOKED_KEYS_PER_WALLET_MAX} for update
     ))`,
    [wallet],
  );
}
