import { createHash, randomInt } from 'node:crypto';
import type pg from 'pg';
import { inTransaction } from '../../runtime/postgres.ts';

const PREFIX = 'svc_live_';
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const SECRET_LENGTH = 32;
const UNIQUE_VIOLATION = '23505';

export type KeyStatus = 'active' | 'suspended' | 'revoked';

/** A wallet's key as an operator may see it; the key itself is kept by nobody but its owner. */
export interface KeyRecord {
  wallet: string;
  status: KeyStatus;
  created_at: Date;
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
  return createHash('sha256').update(key).digest('hex');
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
  return inTransaction(database, async (client) => {
    await changeKey(client, wallet, { from: ['active'], to: 'revoked' });
    return insertKey(client, wallet);
  });
}

/** Ends the wallet's key for good. @throws KeyNotFoundError when there is none */
export async function revokeKey(database: pg.Pool, wallet: string): Promise<void> {
  await changeKey(database, wallet, { from: ['active', 'suspended'], to: 'revoked' });
}

/** Stops the wallet's key until it is reinstated. @throws KeyNotFoundError when none is active */
export async function suspendKey(database: pg.Pool, wallet: string): Promise<void> {
  await changeKey(database, wallet, { from: ['active'], to: 'suspended' });
}

/** Ends a suspension. @throws KeyNotFoundError when no key of the wallet is suspended */
export async function reinstateKey(database: pg.Pool, wallet: string): Promise<void> {
  await changeKey(database, wallet, { from: ['suspended'], to: 'active' });
}

/** All keys ever made, newest first. */
export async function listKeys(database: pg.Pool): Promise<KeyRecord[]> {
  const { rows } = await database.query<KeyRecord>(
    'select wallet, status, created_at from service.api_keys order by created_at desc',
  );
  return rows;
}

type Queryable = Pick<pg.ClientBase, 'query'>;

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

async function changeKey(
  database: Queryable,
  wallet: string,
  change: { from: KeyStatus[]; to: KeyStatus },
): Promise<void> {
  const { rowCount } = await database.query(
    `update service.api_keys
     set status = $3,
         revoked_at = case when $3 = 'revoked' then now() else revoked_at end,
         suspended_at = case when $3 = 'suspended' then now() else null end
     where wallet = $1 and status = any($2)`,
    [wallet, change.from, change.to],
  );
  if (rowCount === 0) {
    throw new KeyNotFoundError(`The wallet ${wallet} has no ${change.from.join(' or ')} key.`);
  }
}
