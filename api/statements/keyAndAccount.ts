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
 * Key and balance in one read, made for every request: keys are cached nowhere, which is why
 * revoking one works at once on every instance.
 */
export async function selectKeyAndAccount(
  database: Database,
  keySha256: string,
): Promise<KeyAndAccount | undefined> {
  const { rows } = await database.query<KeyAndAccount>({
    name: 'select_key_and_account',
    text: `
      select key.wallet, key.status, key.created_at,
             account.spender, account.available_credits, account.last_topup_at
      from service.api_keys key
      left join mirror.credit_accounts account using (wallet)
      where key.key_sha256 = $1`,
    values: [keySha256],
  });
  return rows[0];
}
