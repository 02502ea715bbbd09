import type pg from 'pg';

/** What a listing tells jobs apart by. */
export interface MirroredJob {
  wallet: string;
  id: string;
  /** Seconds of the ledger. */
  lockedAt: number;
  status: string;
  model: string;
}

const ROWS_MAX = 10_000;

/** Puts jobs into the mirror's table, without the events that they would come from. */
export async function insertMirroredJobs(
  pool: pg.Pool,
  jobs: readonly MirroredJob[],
): Promise<void> {
  for (let from = 0; from < jobs.length; from += ROWS_MAX) {
    const rows = jobs.slice(from, from + ROWS_MAX);
    await pool.query(
      `insert into mirror.jobs (
         address, job_id, credit_account, wallet, controller, model, model_id, tier, status, attempt,
         token_limit, credits_per_request, credits_per_1k_tokens, long_completion_threshold_tokens,
         treasury_share_basis_points, slash_tokens, job_timeout_seconds, dispute_window_seconds,
         arbitration_window_seconds, rent_payer, locked_credits, charged_credits, locked_at,
         escrow_tx, escrow_slot, closed, sequence)
       select wallet || ' ' || id, id, 'account', wallet, 'controller', 'model', model, 'lite',
         status, 0, 2000, 2, 1, 500, 1500, 500, 120, 60, 86400, 'payer', 2, 0, locked_at,
         'signature', 1, false, 1
       from unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[])
         as row (wallet, id, locked_at, status, model)`,
      [
        rows.map(({ wallet }) => wallet),
        rows.map(({ id }) => id),
        rows.map(({ lockedAt }) => lockedAt),
        rows.map(({ status }) => status),
        rows.map(({ model }) => model),
      ],
    );
  }
}
