import type { Database } from '../../runtime/postgres.ts';
import type { KeyStatus } from '../services/keys.ts';

/** A wallet and what it may spend. The account's fields are null until the wallet has one. */
export interface Payer {
  wallet: string;
  spender: string | null;
  available_credits: bigint | null;
  /** Of the account's change up to which this is known. */
  sequence: bigint | null;
}

/** A key with the wallet it spends for. */
export interface KeyAndAccount extends Payer {
  status: KeyStatus;
  created_at: Date;
  last_topup_at: bigint | null;
}

/**
 * Keys and balances in one read. Whether a key may be used is read for every request and kept
 * nowhere, which is why revoking one works at once on every instance; a request that becomes a job
 * may have it read with its claim instead. Each is looked up by itself: a join of whole
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
             account.spender, account.available_credits, account.sequence,
             account.last_topup_at
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
