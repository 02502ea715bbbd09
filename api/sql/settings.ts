import type { Database } from '../../common/postgres.ts';

/** A wallet's live key, never the key itself. */
interface LiveKeyRow {
  key_sha256: string;
  created_at: Date;
  /** Null before its first use. */
  last_used_at: Date | null;
}

/** @returns undefined while the wallet has none */
export async function selectLiveKey(
  database: Database,
  wallet: string,
): Promise<LiveKeyRow | undefined> {
  const { rows } = await database.query<LiveKeyRow>(
    `select key_sha256, created_at, last_used_at from service.api_keys
     where wallet = $1 and revoked_at is null`,
    [wallet],
  );
  return rows[0];
}

export interface ThresholdRow {
  threshold_credits: bigint;
  is_low: boolean;
}

/** @returns undefined before the wallet's first alert or threshold */
export async function selectThreshold(
  database: Database,
  wallet: string,
): Promise<ThresholdRow | undefined> {
  const { rows } = await database.query<ThresholdRow>(
    'select threshold_credits, is_low from service.credit_alerts where wallet = $1',
    [wallet],
  );
  return rows[0];
}

/**
 * Sets when `credit.low` fires, and arms it again: an alert that fired above another threshold says
 * nothing of this one. Left as fired, it would stay silent at 45 after it fired at 100 and its
 * threshold was lowered to 50. Setting the same again changes nothing.
 */
export async function setThreshold(
  database: Database,
  wallet: string,
  thresholdCredits: number,
): Promise<ThresholdRow> {
  const { rows } = await database.query<ThresholdRow>(
    `insert into service.credit_alerts as alert (wallet, threshold_credits) values ($1, $2)
     on conflict (wallet) do update set
       threshold_credits = excluded.threshold_credits,
       is_low = alert.is_low and alert.threshold_credits = excluded.threshold_credits
     returning threshold_credits, is_low`,
    [wallet, thresholdCredits],
  );
  return rows[0] as ThresholdRow;
}
