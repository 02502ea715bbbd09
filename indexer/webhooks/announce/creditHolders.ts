import type { Database } from '../../../common/postgres.ts';
import type { LedgerEvent } from '../../decode.ts';
import { isOfCreditAccount } from './balance.ts';

/**
 * The credit accounts that events have changed, each with its wallet: that never changes, so it
 * does not matter whether the tables still have the events.
 */
export async function readCreditHolders(
  database: Database,
  events: readonly LedgerEvent[],
): Promise<ReadonlyMap<string, string>> {
  const claimants = events.flatMap(({ name, data }) =>
    name === 'ClaimPaid' && isOfCreditAccount(data) ? data.claimant : [],
  );
  const told = events.flatMap(({ data }) =>
    'creditAccount' in data ? [[data.creditAccount, data.wallet] as const] : [],
  );
  return new Map([...(await selectHolders(database, claimants)), ...told]);
}

async function selectHolders(
  database: Database,
  creditAccounts: readonly string[],
): Promise<[creditAccount: string, wallet: string][]> {
  if (creditAccounts.length === 0) return [];
  const { rows } = await database.query<{ address: string; wallet: string }>(
    'select address, wallet from credit_accounts where address = any($1)',
    [creditAccounts],
  );
  return rows.map(({ address, wallet }) => [address, wallet]);
}
