import { creditsNumber, isoTime, isoTimeOrNull, usdcValue } from '../../common/format.ts';
import type { Database } from '../../common/postgres.ts';
import type { Addresses } from '../../programs/client/addresses.ts';
import { NO_LIMIT } from '../../programs/client/generated/constants.ts';
import { publicKeyOf } from '../../programs/client/keys.ts';
import type {
  AccountHistory,
  AccountObject,
  accountRoutes,
  ConsoleAccount,
} from '../contracts/account.ts';
import { serviceUnavailable } from '../contracts/errors.ts';
import {
  type AccountEventRow,
  type AccountRow,
  type KeyAndAccount,
  type RulesRow,
  selectAccount,
  selectAccountHistory,
  selectRules,
} from '../sql/accounts.ts';
import { pageOf } from '../views/page.ts';
import type { Handlers } from './serveRoutes.ts';

export interface AccountServices {
  database: Database;
  addresses: Addresses;
  gateway: string;
  nowSeconds: () => bigint;
}

/** The wallet's credits, and their history. */
export function accountHandlers(services: AccountServices): Handlers<typeof accountRoutes> {
  const { database, addresses, gateway, nowSeconds } = services;
  const addressOf = (wallet: string) => addresses.creditAccount(publicKeyOf(wallet)).toBase58();
  return {
    async getAccount({ wallet, key }) {
      const reading = selectAccount(database, { wallet, nowSeconds: nowSeconds() });
      if (key) return accountView(key, await reading);
      const [account, rules] = await Promise.all([reading, requireRules(database)]);
      return pageView({ wallet, address: addressOf(wallet), account, rules, gateway });
    },
    async getHistory({ wallet, query: { before, limit } }) {
      const asked = { before, limit: limit + 1 };
      const rows = await selectAccountHistory(database, addressOf(wallet), asked);
      const { page: data, ...more } = pageOf(rows.map(changeOf), limit, ({ sequence }) => sequence);
      return { object: 'list', data, ...more };
    },
  };
}

/** The balance that a key spends from. @param account undefined before it is opened */
function accountView(
  { wallet, created_at }: KeyAndAccount,
  account: AccountRow | undefined,
): AccountObject {
  const credits = account?.available_credits ?? 0n;
  return {
    wallet,
    credits_remaining: creditsNumber(credits),
    usdc_value: usdcValue(credits),
    last_topup_at: isoTimeOrNull(account?.last_topup_at ?? null),
    api_key_created_at: created_at.toISOString(),
    charged_today_credits: creditsNumber(account?.charged_today_credits ?? 0n),
    locked_now_credits: creditsNumber(account?.locked_credits ?? 0n),
    limits: {
      per_job_credits: limitNumber(account?.limit_per_job_credits),
      per_day_credits: limitNumber(account?.limit_per_day_credits),
    },
  };
}

/** A limit beyond what JSON can carry, as the absent one, is above every balance. */
function limitNumber(credits: bigint | undefined): number | null {
  const isLimit = credits !== undefined && credits <= BigInt(Number.MAX_SAFE_INTEGER);
  return isLimit ? creditsNumber(credits) : null;
}

/** @throws ApiError while the mirror is empty */
export async function requireRules(database: Database): Promise<RulesRow> {
  const rules = await selectRules(database);
  if (!rules) throw serviceUnavailable('The mirror of the ledger is empty yet.');
  return rules;
}

/** @param of.account undefined before it is opened */
function pageView(of: {
  wallet: string;
  address: string;
  account: AccountRow | undefined;
  rules: RulesRow;
  gateway: string;
}): ConsoleAccount {
  const { wallet, address, account, rules, gateway } = of;
  const available = account?.available_credits ?? 0n;
  return {
    wallet,
    address,
    is_open: account !== undefined,
    available_credits: creditsNumber(available),
    locked_credits: creditsNumber(account?.locked_credits ?? 0n),
    charged_today_credits: creditsNumber(account?.charged_today_credits ?? 0n),
    owed_credits: creditsNumber(account?.owed_credits ?? 0n),
    usdc_value: usdcValue(available),
    spender: account ? spenderView(account, gateway) : null,
    open_disputes: account?.open_disputes ?? 0,
    opened_at: account ? isoTime(account.opened_at) : null,
    last_topup_at: isoTimeOrNull(account?.last_topup_at ?? null),
    sequence: String(account?.sequence ?? 0n),
    rules: {
      deposits_paused: rules.deposits_paused,
      locks_paused: rules.locks_paused,
      job_credits_max: creditsNumber(rules.job_credits_max),
      account_credits_max: creditsNumber(rules.credit_account_credits_max),
      credit_mint: rules.credit_mint,
      vault: rules.vault,
    },
  };
}

function spenderView(account: AccountRow, gateway: string): ConsoleAccount['spender'] {
  if (account.spender === null) return null;
  return {
    address: account.spender,
    is_service: account.spender === gateway,
    limit_per_job_credits: limitText(account.limit_per_job_credits),
    limit_per_day_credits: limitText(account.limit_per_day_credits),
  };
}

function limitText(credits: bigint): string | null {
  return credits === NO_LIMIT ? null : String(credits);
}

/** What an event changed. One without balances leaves them as they were. */
function changeOf(row: AccountEventRow): AccountHistory['data'][number] {
  const { charged_credits: charged, available_credits: available, locked_credits: locked } = row;
  const differenceOf = (after: bigint | null, before: bigint | null) =>
    after === null ? 0n : after - (before ?? 0n);
  const changes =
    charged === null
      ? [differenceOf(available, row.available_before), differenceOf(locked, row.locked_before)]
      : [-charged, 0n];
  const [availableChange = 0, lockedChange = 0] = changes.map(creditsNumber);
  const orNull = (credits: bigint | null) => (credits === null ? null : creditsNumber(credits));
  return {
    sequence: String(row.sequence),
    event: row.event_name,
    at: isoTime(row.unix_time),
    charged_credits: orNull(charged),
    available_change_credits: availableChange,
    locked_change_credits: lockedChange,
    available_credits: orNull(available),
    locked_credits: orNull(locked),
    job_id: row.job_id,
    tx: row.signature,
    slot: Number(row.slot),
  };
}
