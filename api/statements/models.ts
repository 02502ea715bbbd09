import type { Database } from '../../runtime/postgres.ts';

/** One model of the catalog as the ledger has it. */
export interface ModelRow {
  address: string;
  id: string;
  tier: string;
  label: string;
  originator: string;
  context_window_tokens: number;
  credits_per_request: number;
  credits_per_1k_tokens: number;
  long_completion_threshold_tokens: number;
  created_at: bigint;
  retires_at: bigint | null;
}

export async function selectModels(database: Database): Promise<ModelRow[]> {
  const { rows } = await database.query<ModelRow>({
    name: 'select_models',
    text: `
      select address, id, tier, label, originator, context_window_tokens, credits_per_request,
             credits_per_1k_tokens, long_completion_threshold_tokens, created_at, retires_at
      from mirror.models
      order by created_at, id`,
  });
  return rows;
}
