import { hash } from 'node:crypto';
import type { Database } from '../../common/postgres.ts';
import type { EventKind } from '../../webhooks/events.ts';

export type KeyStatus = 'active' | 'suspended' | 'revoked';

/** What of a wallet's account bounds a lock. All are null until the wallet has one. */
export interface Funds {
  available_credits: bigint | null;
  limit_per_job_credits: bigint | null;
  limit_per_day_credits: bigint | null;
  /** The day of UTC, counted from 1970, that `spent_today_credits` is of. */
  spent_day: bigint | null;
  /** Of what the spender locked on that day: what was charged, and what is still locked. */
  spent_today_credits: bigint | null;
}

/** A wallet and what it may spend. The account's fields are null until the wallet has one. */
export interface Payer extends Funds {
  wallet: string;
  spender: string | null;
  /** Of the account's change up to which this is known. */
  sequence: bigint | null;
}

/** A key with the wallet it spends for. */
export interface KeyAndAccount extends Payer {
  status: KeyStatus;
  created_at: Date;
  /** Of its wallet, which may be suspended. */
  suspension_reason: string | null;
}

/**
 * The only form in which a key is stored. A fast hash is enough: 32 characters of 62 carry 190 bits, too
 * many to find a key from its hash by trying.
 */
export function hashKey(key: string): string {
  return hash('sha256', key);
}

/**
 * Keys and balances in one read. Whether a key may be used is read for every request and kept nowhere,
 * so revoking one works at once on every instance.
 *
 * It also notes the use of each key, at most every five minutes. Another process may be about to note
 * it: no request waits for that.
 *
 * Each is looked up by itself. A join of whole tables is right for small ones, but the plan would be
 * kept while they grow.
 *
 * @returns in the order of the hashes; undefined where there is no such key
 */
export async function selectKeysAndAccounts(
  database: Database,
  keySha256s: readonly string[],
): Promise<(KeyAndAccount | undefined)[]> {
  const { rows } = await database.query<KeyAndAccount & { key_sha256: string }>({
    name: 'select_keys_and_accounts',
    text: `
      with used as (
        update service.api_keys set last_used_at = now() where key_sha256 in (
          select key_sha256 from service.api_keys
          where key_sha256 = any($1) and revoked_at is null
            and (last_used_at < now() - interval '5 minutes') is not false
          for no key update skip locked
        )
      )
      select key.key_sha256, key.wallet, key.created_at,
             case when key.revoked_at is not null then 'revoked'
                  when suspension.reason is not null then 'suspended'
                  else 'active' end as status,
             suspension.reason as suspension_reason,
             account.spender, account.available_credits, account.sequence,
             account.limit_per_job_credits, account.limit_per_day_credits, account.spent_day,
             account.spent_today_credits
      from unnest($1::text[]) as given (hash)
      cross join lateral (
        select * from service.api_keys where key_sha256 = given.hash offset 0
      ) key
      left join lateral (
        select reason from service.key_suspensions
        where wallet = key.wallet and lifted_at is null offset 0
      ) suspension on true
      left join lateral (
        select * from mirror.credit_accounts where wallet = key.wallet offset 0
      ) account on true`,
    values: [keySha256s],
  });
  const found = new Map(rows.map(({ key_sha256, ...row }) => [key_sha256, row]));
  return keySha256s.map((hash) => found.get(hash));
}

/** What decides whether a wallet may send a large body. */
interface Means {
  available_credits: bigint;
  locked_credits: bigint;
  /** Whether a job of the last minutes is open or was charged, so that a repeat may find its answer. */
  has_recent_job: boolean;
}

/** An answer is kept for ten minutes, from the settlement of a job of two minutes at most. */
const REPEATABLE_SECONDS = 720n;

/** @param query.nowSeconds the ledger's time */
export async function selectMeans(
  database: Database,
  query: { wallet: string; nowSeconds: bigint },
): Promise<Means> {
  const { rows } = await database.query<Means>({
    name: 'select_means',
    text: `
      select coalesce(available_credits, 0) as available_credits,
             coalesce(locked_credits, 0) as locked_credits,
             exists (
               select from mirror.jobs
               where wallet = $1 and locked_at >= $2
                 and (status in ('pending', 'processing', 'settling') or charged_credits > 0)
             ) as has_recent_job
      from (values ($1::text)) as given (wallet)
      left join mirror.credit_accounts account using (wallet)`,
    values: [query.wallet, query.nowSeconds - REPEATABLE_SECONDS],
  });
  return rows[0] as Means;
}

/**
 * What was charged of today's locks: what the day's limit counts, less what running jobs hold of it.
 * The ledger's second `$2` says which day is today. What the wallet itself locked counts for no day.
 */
const CHARGED_TODAY = `
  case when account.spent_day < $2::bigint / 86400 then 0
    else account.spent_today_credits - coalesce((
      select sum(locked_credits) from mirror.jobs job
      where job.credit_account = account.address and job.limit_day = account.spent_day
        and job.status in ('pending', 'processing', 'settling')), 0) end`;

/** What a wallet has, and allows its spender. One statement reads it, so that it adds up. */
export interface AccountRow {
  spender: string | null;
  limit_per_job_credits: bigint;
  limit_per_day_credits: bigint;
  available_credits: bigint;
  locked_credits: bigint;
  charged_today_credits: bigint;
  owed_credits: bigint;
  open_disputes: number;
  opened_at: bigint;
  last_topup_at: bigint | null;
  sequence: bigint;
}

/** @returns undefined before the account is opened */
export async function selectAccount(
  database: Database,
  { wallet, nowSeconds }: { wallet: string; nowSeconds: bigint },
): Promise<AccountRow | undefined> {
  const { rows } = await database.query<AccountRow>({
    name: 'select_account',
    text: `
      select spender, limit_per_job_credits, limit_per_day_credits, available_credits,
        locked_credits, ${CHARGED_TODAY} as charged_today_credits, owed_credits, open_disputes,
        opened_at, last_topup_at, sequence
      from mirror.credit_accounts account where wallet = $1`,
    values: [wallet, nowSeconds],
  });
  return rows[0];
}

/** The program's settings that concern all wallets. */
export interface RulesRow {
  authority: string;
  pending_authority: string | null;
  arbiter: string;
  credit_mint: string;
  vault: string;
  stake_decimals: number;
  deposits_paused: boolean;
  locks_paused: boolean;
  minimum_stake_tokens: bigint;
  job_credits_max: bigint;
  credit_account_credits_max: bigint;
}

/** @returns undefined while the mirror is empty */
export async function selectRules(database: Database): Promise<RulesRow | undefined> {
  const { rows } = await database.query<RulesRow>(
    `select authority, pending_authority, arbiter, credit_mint, vault, stake_decimals,
       deposits_paused, locks_paused, minimum_stake_tokens, job_credits_max,
       credit_account_credits_max
     from mirror.config`,
  );
  return rows[0];
}

/** One event of an account. Balances are null where the event states none. */
export interface AccountEventRow {
  sequence: bigint;
  event_name: string;
  unix_time: bigint;
  signature: string;
  slot: bigint;
  job_id: string | null;
  /** Of the job that it ended; null of any other event. */
  charged_credits: bigint | null;
  available_credits: bigint | null;
  locked_credits: bigint | null;
  /** Of the last event before it that states balances. */
  available_before: bigint | null;
  locked_before: bigint | null;
}

/** The account's balances, as an event of `journal` states them. */
const AVAILABLE = `(data ->> 'availableCredits')::numeric`;
const LOCKED = `coalesce(data ->> 'accountLockedCredits', data ->> 'lockedCredits')::numeric`;

/**
 * The events of an account, newest first. The lock of a job that has ended is not among them: its end
 * says all that the job changed.
 *
 * @param before only those of lower sequences
 */
export async function selectAccountHistory(
  database: Database,
  address: string,
  { before, limit }: { before: bigint | undefined; limit: number },
): Promise<AccountEventRow[]> {
  const { rows } = await database.query<AccountEventRow>(
    `select change.sequence, event_name, unix_time, journal.signature, journal.slot,
       'job_' || (data ->> 'jobId') as job_id,
       case when event_name in ('JobSettled', 'JobCompleted')
           then (data ->> 'chargedCredits')::numeric
         when event_name in ('JobFailed', 'JobRefunded') then 0 end as charged_credits,
       ${AVAILABLE} as available_credits, ${LOCKED} as locked_credits,
       earlier.available_before, earlier.locked_before
     from mirror.account_changes change
     join mirror.journal journal using (signature, instruction_index, inner_index)
     left join lateral (
       select ${AVAILABLE} as available_before, ${LOCKED} as locked_before
       from mirror.account_changes before
       join mirror.journal using (signature, instruction_index, inner_index)
       where before.address = $1 and before.sequence < change.sequence and folded
         and data ->> 'availableCredits' is not null
       order by before.sequence desc limit 1
     ) earlier on true
     where change.address = $1 and ($2::numeric is null or change.sequence < $2) and folded
       and not (event_name = 'JobLocked' and exists (
         select from mirror.jobs job where job.address = data ->> 'job'
           and status not in ('pending', 'processing', 'settling')
       ))
     order by change.sequence desc limit $3`,
    [address, before ?? null, limit],
  );
  return rows;
}

/** Until the transaction ends, no other changes the wallet's keys or suspends it. */
export async function lockKeys(database: Database, wallet: string): Promise<void> {
  await database.query(`select pg_advisory_xact_lock(hashtextextended('key ' || $1, 0))`, [wallet]);
}

/** Why a wallet's keys are refused at present, and who decided that. */
export interface OpenSuspension {
  suspended_at: Date;
  suspended_by: 'operator' | 'indexer';
  reason: string;
}

/** @returns undefined while the wallet is not suspended */
export async function selectOpenSuspension(
  database: Database,
  wallet: string,
): Promise<OpenSuspension | undefined> {
  const { rows } = await database.query<OpenSuspension>(
    `select suspended_at, suspended_by, reason from service.key_suspensions
     where wallet = $1 and lifted_at is null`,
    [wallet],
  );
  return rows[0];
}

/** A webhook as its owner may see it; its secret is never read here. */
export interface WebhookRow {
  id: string;
  url: string;
  events: EventKind[];
  status: 'active' | 'failed' | 'disabled';
  created_at: Date;
}

const columns = 'id, url, events, status, created_at';

/** Newest first. */
export async function selectWebhooks(database: Database, wallet: string): Promise<WebhookRow[]> {
  const { rows } = await database.query<WebhookRow>(
    `select ${columns} from service.webhooks where wallet = $1 order by created_at desc, id`,
    [wallet],
  );
  return rows;
}

/** @param webhook.events sorted */
export async function insertWebhook(
  database: Database,
  webhook: {
    id: string;
    wallet: string;
    url: string;
    events: EventKind[];
    apiVersion: string;
    sealedSecret: Uint8Array;
  },
): Promise<WebhookRow> {
  const { id, wallet, url, events, apiVersion, sealedSecret } = webhook;
  const { rows } = await database.query<WebhookRow>(
    `insert into service.webhooks (id, wallet, url, events, api_version, secret)
     values ($1, $2, $3, $4, $5, $6) returning ${columns}`,
    [id, wallet, url, events, apiVersion, sealedSecret],
  );
  return rows[0] as WebhookRow;
}

/** Deliveries of a webhook that are deleted in one statement, so that none takes long. */
const DELIVERIES_AT_ONCE = 1_000;

/**
 * Sends nothing to a webhook any more. Until the transaction ends, no other one changes its deliveries;
 * announcing does not wait for that.
 *
 * @returns whether the wallet has this webhook
 */
export async function disableWebhook(
  database: Database,
  key: { wallet: string; id: string },
): Promise<boolean> {
  const { rowCount } = await database.query(
    `update service.webhooks set status = 'disabled' where wallet = $1 and id = $2`,
    [key.wallet, key.id],
  );
  return rowCount === 1;
}

/**
 * Deletes some of a webhook's deliveries with their attempts, but none that another process holds.
 *
 * @returns whether there may be more
 */
export async function deleteDeliveries(database: Database, webhookId: string): Promise<boolean> {
  const { rowCount } = await database.query(
    `select from service.delete_rows('webhook_deliveries', array(
       select ctid from service.webhook_deliveries
       where webhook_id = $1 limit $2
       for update skip locked
     ))`,
    [webhookId, DELIVERIES_AT_ONCE],
  );
  return rowCount === DELIVERIES_AT_ONCE;
}

/** @returns whether the wallet had this webhook; what deliveries it has left go with it */
export async function deleteWebhook(
  database: Database,
  key: { wallet: string; id: string },
): Promise<boolean> {
  const { rowCount } = await database.query(
    `select from service.delete_rows('webhooks', array(
       select ctid from service.webhooks where wallet = $1 and id = $2 for update
     ))`,
    [key.wallet, key.id],
  );
  return rowCount === 1;
}
