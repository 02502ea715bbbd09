-- The journal holds events as the client decodes them. It now names a tier, a reason, a verdict and
-- a claimant by its word, no longer by its number.
update journal set data = data || jsonb_build_object(
  'tier', (array['lite', 'standard', 'pro', 'max'])[(data ->> 'tier')::integer + 1])
where jsonb_typeof(data -> 'tier') = 'number';

update journal set data = data || jsonb_build_object(
  'reason', (array['none', 'worker_error', 'proof_missing', 'proof_invalid', 'output_mismatch',
    'empty_output', 'client_gone', 'lock_late'])[(data ->> 'reason')::integer + 1])
where jsonb_typeof(data -> 'reason') = 'number';

update journal set data = data || jsonb_build_object(
  'verdict', (array['none', 'rejected', 'upheld_gateway', 'upheld_worker', 'expired']
    )[(data ->> 'verdict')::integer + 1])
where jsonb_typeof(data -> 'verdict') = 'number';

update journal set data = data || jsonb_build_object(
  'claimantKind', (array['credit_account', 'worker', 'treasury']
    )[(data ->> 'claimantKind')::integer + 1])
where jsonb_typeof(data -> 'claimantKind') = 'number';
