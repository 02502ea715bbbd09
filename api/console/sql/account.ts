import type { Database } from '../../../common/postgres.ts';
import { CHARGED_TODAY } from '../../sql/accounts.ts';

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
  const { rows } = await database.query<AccountRow>(
    `select spender, limit_per_job_credits, limit_per_day_credits, available_credits,
       locked_credits, ${CHARGED_TODAY} as charged_today_credits, owed_credits, open_disputes,
       opened_at, last_topup_at, sequence
     from mirror.credit_accounts account where wallet = $1`,
    [wallet, nowSeconds],
  );
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
  available_credits: bigint | null;
  locked_credits: bigint | null;
}

/** The events of an account, newest first. @param before only those of lower sequences */
export async function selectAccountHistory(
  database: Database,
  address: string,
  { before, limit }: { before: bigint | undefined; limit: number },
): Promise<AccountEventRow[]> {
  const { rows } = await database.query<AccountEventRow>(
    `select change.sequence, event_name, unix_time, journal.signature, journal.slot,
       'job_' || (data ->> 'jobId') as job_id,
       (data ->> 'availableCredits')::numeric as available_credits,
       coalesce(data ->> 'accountLockedCredits', data ->> 'lockedCredits')::numeric
         as locked_credits
     from mirror.account_changes change
     join mirror.journal journal using (signature, instruction_index, inner_index)
     where change.address = $1 and ($2::numeric is null or change.sequence < $2) and folded
     order by change.sequence desc limit $3`,
    [address, before ?? null, limit],
  );
  return rows;
}
