import type { Tier } from '../../programs/client/vocabulary.ts';
import type { Database } from '../../runtime/postgres.ts';

/** One model of the catalog as the ledger has it. */
export interface ModelRow {
  address: string;
  id: string;
  tier: Tier;
  label: string;
  originator: string;
  context_window_tokens: number;
  credits_per_request: number;
  credits_per_1k_tokens: number;
  long_completion_threshold_tokens: number;
  created_at: bigint;
  retires_at: bigint | null;
}

type Counts =
  | 'context_window_tokens'
  | 'credits_per_request'
  | 'credits_per_1k_tokens'
  | 'long_completion_threshold_tokens';

export async function selectModels(database: Database): Promise<ModelRow[]> {
  const { rows } = await database.query<Omit<ModelRow, Counts> & Record<Counts, bigint>>({
    name: 'select_models',
    text: `
      select address, id, tier, label, originator, context_window_tokens, credits_per_request,
             credits_per_1k_tokens, long_completion_threshold_tokens, created_at, retires_at
      from mirror.models
      order by created_at, id`,
  });
  // 32 bits on the ledger, so each fits a number.
  return rows.map((row) => ({
    ...row,
    context_window_tokens: Number(row.context_window_tokens),
    credits_per_request: Number(row.credits_per_request),
    credits_per_1k_tokens: Number(row.credits_per_1k_tokens),
    long_completion_threshold_tokens: Number(row.long_completion_threshold_tokens),
  }));
}
