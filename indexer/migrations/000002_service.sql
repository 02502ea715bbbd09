-- What the ledger does not know: never touched by a rebuild of the mirror, and to be backed up.
create table service.api_keys (
  key_sha256 text constraint api_keys_pkey primary key,
  wallet text not null,
  status text not null,
  created_at timestamptz not null default now(),
  revoked_at timestamptz,
  suspended_at timestamptz,
  constraint api_keys_status_check check (status in ('active', 'revoked', 'suspended')),
  constraint api_keys_revoked_at_check check ((status = 'revoked') = (revoked_at is not null))
);
create unique index api_keys_wallet_live_idx on service.api_keys (wallet)
  where status <> 'revoked';

create table service.worker_observations (
  worker text not null,
  model_id text not null,
  first_token_ms integer not null,
  observed_at timestamptz not null default now()
);
create index worker_observations_model_id_observed_at_idx
  on service.worker_observations (model_id, observed_at);
