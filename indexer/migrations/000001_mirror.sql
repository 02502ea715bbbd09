-- Folded from the ledger's events: dropping this schema loses nothing. No schema is named, here and
-- in every migration of the mirror, because a rebuild makes the same tables beside the old ones.

-- Every successful transaction of the program that was read, with or without events.
create table transactions (
  signature text constraint transactions_pkey primary key,
  slot bigint not null,
  commitment text not null default 'confirmed',
  constraint transactions_commitment_check check (commitment in ('confirmed', 'finalized'))
);
create index transactions_confirmed_idx on transactions (slot) where commitment = 'confirmed';
-- A list of a node that holds nothing is asked again and again for the newest that is final.
create index transactions_finalized_idx on transactions (slot) where commitment = 'finalized';

-- Every event, as it was emitted. `folded` is false while an event before it is missing.
create table journal (
  signature text not null,
  instruction_index integer not null,
  inner_index integer not null,
  slot bigint not null,
  unix_time bigint not null,
  event_name text not null,
  data jsonb not null,
  folded boolean not null,
  constraint journal_pkey primary key (signature, instruction_index, inner_index)
);
create index journal_unfolded_idx on journal (slot) where not folded;

-- Which change of which account an event is: sequences count each account's changes from 1.
create table account_changes (
  address text not null,
  sequence numeric(20) not null,
  signature text not null,
  instruction_index integer not null,
  inner_index integer not null,
  constraint account_changes_pkey primary key (address, sequence, signature)
);
create index account_changes_event_idx
  on account_changes (signature, instruction_index, inner_index);

-- How far a sweep has come: everything in the slots before this one is stored.
create table cursors (
  name text constraint cursors_pkey primary key,
  slot bigint not null,
  constraint cursors_name_check check (name in ('confirmed', 'finalized'))
);

create table config (
  address text constraint config_pkey primary key,
  authority text not null,
  pending_authority text,
  arbiter text not null,
  credit_mint text not null,
  stake_mint text not null,
  vault text not null,
  treasury_vault text not null,
  stake_vault text not null,
  stake_decimals integer not null,
  treasury_share_basis_points integer not null,
  job_timeout_seconds bigint not null,
  dispute_window_seconds bigint not null,
  arbitration_window_seconds bigint not null,
  unstake_cooldown_seconds bigint not null,
  open_disputes_max integer not null,
  deposits_paused boolean not null,
  locks_paused boolean not null,
  minimum_stake_tokens numeric(20) not null,
  slash_tokens bigint not null,
  job_credits_max numeric(20) not null,
  credit_account_credits_max numeric(20) not null,
  sequence numeric(20) not null,
  treasury_floor_credits numeric(20) not null default 0,
  earlier_floor_credits numeric(20) not null default 0,
  earlier_floor_ends_at bigint
);

create table treasury (
  address text constraint treasury_pkey primary key,
  owed_base_units numeric(20) not null,
  disputed_exposure_base_units numeric(20) not null,
  slashed_stake_tokens numeric(20) not null,
  unpaid_base_units numeric(20) not null,
  sequence numeric(20) not null
);

create table gateways (
  address text constraint gateways_pkey primary key,
  operator text not null,
  signers text[] not null,
  stopped boolean not null,
  sequence numeric(20) not null,
  vouched boolean not null default false,
  constraint gateways_operator_key unique (operator)
);

create table credit_accounts (
  address text constraint credit_accounts_pkey primary key,
  wallet text not null,
  spender text,
  limit_per_job_credits numeric(20) not null,
  limit_per_day_credits numeric(20) not null,
  spent_day bigint not null,
  spent_today_credits numeric(20) not null,
  available_credits numeric(20) not null,
  locked_credits numeric(20) not null,
  owed_credits numeric(20) not null,
  open_disputes integer not null,
  opened_at bigint not null,
  last_topup_at bigint,
  sequence numeric(20) not null,
  constraint credit_accounts_wallet_key unique (wallet)
);
create index credit_accounts_owed_idx on credit_accounts (address) where owed_credits > 0;

create table models (
  address text constraint models_pkey primary key,
  id text not null,
  tier text not null,
  label text not null,
  originator text not null,
  context_window_tokens bigint not null,
  credits_per_request bigint not null,
  credits_per_1k_tokens bigint not null,
  long_completion_threshold_tokens bigint not null,
  created_at bigint not null,
  retires_at bigint,
  sequence numeric(20) not null,
  card_hash text,
  constraint models_id_key unique (id),
  constraint models_tier_check check (tier in ('lite', 'standard', 'pro', 'max'))
);

create table workers (
  address text constraint workers_pkey primary key,
  authority text not null,
  proof_key text not null,
  payout text not null,
  endpoint text not null,
  status text not null,
  stake_tokens numeric(20) not null,
  unstaking_tokens numeric(20) not null,
  unstake_ready_at bigint,
  claimable_base_units numeric(20) not null,
  jobs_settled numeric(20) not null,
  registered_at bigint not null,
  sequence numeric(20) not null,
  unstake_cooldown_seconds bigint not null default 0,
  previous_proof_key text,
  proof_key_changed_at bigint,
  constraint workers_authority_key unique (authority),
  constraint workers_status_check check (status in ('active', 'suspended', 'deregistered'))
);
create index workers_claimable_idx on workers (address) where claimable_base_units > 0;

create table worker_models (
  worker text not null,
  model text not null,
  constraint worker_models_pkey primary key (worker, model),
  constraint worker_models_worker_fkey foreign key (worker)
    references workers (address) on delete cascade
);
create index worker_models_model_idx on worker_models (model);

create table jobs (
  address text constraint jobs_pkey primary key,
  job_id text not null,
  credit_account text not null,
  wallet text not null,
  controller text not null,
  model text not null,
  model_id text not null,
  tier text not null,
  status text not null,
  attempt integer not null,
  outcome text,
  failure_reason text,
  token_limit bigint not null,
  credits_per_request bigint not null,
  credits_per_1k_tokens bigint not null,
  long_completion_threshold_tokens bigint not null,
  treasury_share_basis_points integer not null,
  slash_tokens bigint not null,
  job_timeout_seconds integer not null,
  dispute_window_seconds integer not null,
  arbitration_window_seconds bigint not null,
  rent_payer text not null,
  locked_credits numeric(20) not null,
  charged_credits numeric(20) not null,
  worker text,
  output_hash text,
  -- Counts that strangers prove or claim may be as large as their 32 bits allow.
  prompt_tokens bigint,
  completion_tokens bigint,
  counted_tokens bigint,
  locked_at bigint not null,
  acknowledged_at bigint,
  proven_at bigint,
  settled_at bigint,
  ended_at bigint,
  escrow_tx text not null,
  escrow_slot bigint not null,
  settlement_tx text,
  settlement_slot bigint,
  refund_tx text,
  client_hash text,
  dispute_tx text,
  disputed_at bigint,
  arbitration_ends_at bigint,
  resolution_tx text,
  resolved_at bigint,
  worker_base_units numeric(20),
  treasury_base_units numeric(20),
  settled_by text,
  closed boolean not null,
  sequence numeric(20) not null,
  vouched boolean not null default false,
  disputed_by_wallet boolean not null default false,
  limit_day bigint not null default 0,
  statement text,
  proof_key text,
  constraint jobs_job_id_wallet_key unique (job_id, wallet),
  constraint jobs_tier_check check (tier in ('lite', 'standard', 'pro', 'max')),
  constraint jobs_status_check check (
    status in ('pending', 'processing', 'settling', 'settled', 'failed', 'refunded', 'disputed')
  )
);
-- A page of a wallet's jobs costs what it shows, however few of the wallet's jobs match its filters.
-- No two indexes begin alike, and the columns of each run the same way. So every kind of page is a
-- range of one of them, and no other can stand in for it.
create index jobs_wallet_idx on jobs (wallet, locked_at, job_id);
create index jobs_status_wallet_idx on jobs (status, wallet, locked_at, job_id);
create index jobs_model_id_wallet_idx on jobs (model_id, wallet, locked_at, job_id);
create index jobs_status_model_id_wallet_idx
  on jobs ((status || ' ' || model_id), wallet, locked_at, job_id);
create index jobs_running_idx on jobs (locked_at)
  where status in ('pending', 'processing', 'settling');
create index jobs_disputed_idx on jobs (arbitration_ends_at) where status = 'disputed';
create index jobs_closable_idx on jobs (ended_at)
  where status in ('settled', 'failed', 'refunded') and not closed;
-- What can count against a wallet, by the ledger's time at which it ended.
create index jobs_unpaid_idx on jobs (ended_at)
  where failure_reason in ('client_gone', 'empty_output');
create index jobs_lost_disputes_idx on jobs (resolved_at)
  where outcome in ('rejected', 'expired');

-- How many changes of an account the tables hold.
create view sequences as
  select address, sequence from config
  union all select address, sequence from treasury
  union all select address, sequence from gateways
  union all select address, sequence from credit_accounts
  union all select address, sequence from models
  union all select address, sequence from workers
  union all select address, sequence from jobs;

-- Foreign keys, with usage counted row by row, took half of the database's time in a mirror that catches
-- up. What is stored is stored by one statement each, in one database transaction, so that nothing has
-- to be looked up to be known. What goes is still taken along.
create function forget_events() returns trigger
language plpgsql as $$
begin
  execute format('delete from %I.journal where signature = $1', tg_table_schema)
  using old.signature;
  return null;
end $$;

create function forget_account_changes() returns trigger
language plpgsql as $$
begin
  execute format(
    'delete from %I.account_changes
     where signature = $1 and instruction_index = $2 and inner_index = $3', tg_table_schema)
  using old.signature, old.instruction_index, old.inner_index;
  return null;
end $$;

create trigger transactions_forgotten after delete on transactions
  for each row execute function forget_events();
create trigger journal_forgotten after delete on journal
  for each row execute function forget_account_changes();
