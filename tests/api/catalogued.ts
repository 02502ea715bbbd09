import type { ModelRow } from '../../api/sql/workers.ts';

/** What a request of it locks. */
export const PRICE = 8;

export const standardModel: ModelRow = {
  address: 'unused',
  id: 'standard-model',
  tier: 'standard',
  label: '8B',
  originator: 'Somebody',
  context_window_tokens: 32_768,
  credits_per_request: PRICE,
  credits_per_1k_tokens: 4,
  long_completion_threshold_tokens: 500,
  created_at: 0n,
  retires_at: null,
  card_hash: null,
};

/** A catalog without a mirror: a model, and one that costs more. */
export function openCatalogued(): { list(): ModelRow[] } {
  return { list: () => [{ ...standardModel, credits_per_request: 2 * PRICE }, standardModel] };
}
