import type { Database } from '../../runtime/postgres.ts';
import type { KeyStatus } from '../services/keys.ts';

/** A key with the wallet it spends for. The account's fields are null until the wallet has one. */
export interface KeyAndAccount {
  wallet: string;
  status: KeyStatus;
  created_at: Date;
  spender: string | null;
  available_credits: bigint | null;
  last_topup_at: bigint | null;
}

/**
 * Keys and balances in one read, which is made for every request: keys are cached nowhere, which is
 * why revoking one works at once on every instance. Each is looked up by itself: a join of whole
 * tables, which is right for small ones, would be kept as the plan while they grow.
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
      select key.key_sha256, key.wallet, key.status, key.created_at,
             account.spender, account.available_credits, account.last_topup_at
      from unnest($1::text[]) as given (hash)
      cross join lateral (
        select * from service.api_keys where key_sha256 = given.hash offset 0
      ) key
      left join lateral (
        select * from mirror.credit_accounts where wallet = key.wallet offset 0
      ) account on true`,
    values: [keySha256s],
  });
  const found = new Map(rows.map(({ key_sha256, ...row }) => [key_sha256, row]));
  return keySha256s.map((hash) => found.get(hash));
}
