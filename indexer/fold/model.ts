import { creation, type Fold, timeOrNull, update } from './change.ts';

export const foldModelUpserted: Fold<'ModelUpserted'> = ({ data }) => {
  const values = {
    id: data.id,
    tier: data.tier,
    label: data.label,
    originator: data.originator,
    context_window_tokens: data.contextWindowTokens,
    credits_per_request: data.creditsPerRequest,
    credits_per_1k_tokens: data.creditsPer1kTokens,
    long_completion_threshold_tokens: data.longCompletionThresholdTokens,
    created_at: data.createdAt,
    retires_at: timeOrNull(data.retiresAt),
  };
  return [
    data.modelSequence === '1'
      ? creation('models', data.model, values)
      : update('models', { address: data.model, sequence: data.modelSequence }, values),
  ];
};

export const foldModelRetired: Fold<'ModelRetired'> = ({ data }) => [
  update(
    'models',
    { address: data.model, sequence: data.modelSequence },
    { retires_at: timeOrNull(data.retiresAt) },
  ),
];
