import type { Database } from '../../common/postgres.ts';

/** A session ends this long after its last use. */
const IDLE_HOURS_MAX = 12;
/** A session ends this long after its sign-in, even if it is used. */
const AGE_DAYS_MAX = 7;
/** Only a younger sign-in may show keys and secrets. */
const FRESH_MINUTES = 15;
/** Above this, a wallet's oldest sessions end. */
const SESSIONS_PER_WALLET_MAX = 50;

const IS_LIVE = `
  last_used_at > now() - interval '${IDLE_HOURS_MAX} hours'
  and signed_in_at > now() - interval '${AGE_DAYS_MAX} days'`;

const EXPIRES_AT = `
  least(last_used_at + interval '${IDLE_HOURS_MAX} hours',
        signed_in_at + interval '${AGE_DAYS_MAX} days') as expires_at`;

export interface SessionRow {
  id: string;
  wallet: string;
  signed_in_at: Date;
  last_used_at: Date;
  expires_at: Date;
  browser: string;
}

/** A session with what its wallet is on the ledger. */
export interface SessionWithRoles extends SessionRow {
  fresh_until: Date;
  is_fresh: boolean;
  has_account: boolean;
  is_authority: boolean;
  is_arbiter: boolean;
  is_gateway_operator: boolean;
}

/**
 * Remembers that a sign-in was used.
 *
 * @returns whether it had not been used before, by any process
 */
export async function useSignIn(
  database: Database,
  signIn: { nonce: string; expiresAtMs: number },
): Promise<boolean> {
  const { rowCount } = await database.query(
    `insert into service.used_sign_ins (nonce, expires_at) values ($1, to_timestamp($2))
     on conflict do nothing`,
    [signIn.nonce, signIn.expiresAtMs / 1_000],
  );
  return rowCount === 1;
}

export async function insertSession(
  database: Database,
  session: { tokenSha256: Uint8Array; id: string; wallet: string; browser: string },
): Promise<void> {
  const { tokenSha256, id, wallet, browser } = session;
  await database.query(
    `with ended as (
       select count(*) from service.delete_rows('sessions', array(
         select ctid from service.sessions where wallet = $3
         order by signed_in_at desc offset ${SESSIONS_PER_WALLET_MAX - 1} for update
       ))
     )
     insert into service.sessions (token_sha256, id, wallet, browser)
     select $1, $2, $3, $4 from ended`,
    [tokenSha256, id, wallet, browser],
  );
}

/** Finds a live session and counts it as used, at most once a minute. */
export async function selectSession(
  database: Database,
  key: { tokenSha256: Uint8Array; gateway: string },
): Promise<SessionWithRoles | undefined> {
  const { rows } = await database.query<SessionWithRoles>(
    `with used as (
       update service.sessions set last_used_at = now()
       where token_sha256 = $1 and ${IS_LIVE} and last_used_at < now() - interval '1 minute'
     )
     select id, wallet, signed_in_at, last_used_at, browser, ${EXPIRES_AT},
       signed_in_at + interval '${FRESH_MINUTES} minutes' as fresh_until,
       signed_in_at > now() - interval '${FRESH_MINUTES} minutes' as is_fresh,
       exists (
         select from mirror.credit_accounts account where account.wallet = sessions.wallet
       ) as has_account,
       exists (select from mirror.config where authority = wallet) as is_authority,
       exists (select from mirror.config where arbiter = wallet) as is_arbiter,
       exists (
         select from mirror.gateways where address = $2 and operator = wallet
       ) as is_gateway_operator
     from service.sessions where token_sha256 = $1 and ${IS_LIVE}`,
    [key.tokenSha256, key.gateway],
  );
  return rows[0];
}

export async function selectSessions(database: Database, wallet: string): Promise<SessionRow[]> {
  const { rows } = await database.query<SessionRow>(
    `select id, wallet, signed_in_at, last_used_at, browser, ${EXPIRES_AT}
     from service.sessions where wallet = $1 and ${IS_LIVE}
     order by signed_in_at desc, id`,
    [wallet],
  );
  return rows;
}

/**
 * The given sessions that have not ended, and for how many milliseconds each lasts unless it is used
 * or ended. Reading them does not count as a use.
 */
export async function selectLiveSessions(
  database: Database,
  ids: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await database.query<{ id: string; lasts_ms: number }>({
    name: 'select_live_sessions',
    text: `
      select id, (extract(epoch from expires_at - now()) * 1000)::float8 as lasts_ms
      from (select id, ${EXPIRES_AT} from service.sessions where id = any($1) and ${IS_LIVE}) live`,
    values: [ids],
  });
  return new Map(rows.map(({ id, lasts_ms }) => [id, lasts_ms]));
}

/** @returns whether the wallet had this session */
export async function deleteSession(
  database: Database,
  key: { wallet: string; id: string },
): Promise<boolean> {
  const { rowCount } = await database.query(
    `select from service.delete_rows('sessions', array(
       select ctid from service.sessions where wallet = $1 and id = $2 for update
     ))`,
    [key.wallet, key.id],
  );
  return rowCount === 1;
}

/** Which ledger the database is of; undefined before its first sync. */
export async function selectGenesisHash(database: Database): Promise<string | undefined> {
  const { rows } = await database.query<{ genesis_hash: string }>(
    'select genesis_hash from service.ledger',
  );
  return rows[0]?.genesis_hash;
}
