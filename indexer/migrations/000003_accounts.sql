-- The schema service has what the ledger does not know: a rebuild of the mirror never touches it, and it
-- is to be backed up.

-- Which ledger, and which program on it, the database is of. Written by the first sync.
create table service.ledger (
  is_only boolean constraint ledger_pkey primary key default true,
  genesis_hash text not null,
  program_id text not null,
  constraint ledger_is_only_check check (is_only)
);

-- Who may use the service.
create table service.api_keys (
  key_sha256 text constraint api_keys_pkey primary key,
  wallet text not null,
  status text not null,
  created_at timestamptz not null default now(),
  -- To five minutes; null before its first use.
  last_used_at timestamptz,
  revoked_at timestamptz,
  -- Rows that a wallet without an account on the ledger can make are deleted after a time. Null for
  -- good once the wallet had an account: a mirror that is being rebuilt knows none, and every
  -- customer's key would be deleted.
  without_account_since timestamptz default now(),
  constraint api_keys_status_check check (status in ('active', 'revoked')),
  constraint api_keys_revoked_at_check check ((status = 'revoked') = (revoked_at is not null))
);
create unique index api_keys_wallet_live_idx on service.api_keys (wallet)
  where status <> 'revoked';
create index api_keys_without_account_since_idx on service.api_keys (without_account_since)
  where without_account_since is not null;
create index api_keys_wallet_revoked_at_idx on service.api_keys (wallet, revoked_at);
create index api_keys_revoked_at_idx on service.api_keys (revoked_at) where revoked_at is not null;

-- Every suspension: who, when and why, and when it was lifted. It is the wallet's, with any keys.
create table service.key_suspensions (
  id bigint generated always as identity constraint key_suspensions_pkey primary key,
  wallet text not null,
  suspended_at timestamptz not null default now(),
  suspended_by text not null,
  reason text not null,
  -- The ledger's time up to which the wallet was judged; null where nothing was counted.
  judged_at bigint,
  lifted_at timestamptz,
  -- Jobs locked up to this ledger time count no more.
  forgiven_until bigint,
  constraint key_suspensions_suspended_by_check check (suspended_by in ('operator', 'indexer')),
  constraint key_suspensions_forgiven_until_check check (
    (lifted_at is null) = (forgiven_until is null)
  )
);
create unique index key_suspensions_open_idx on service.key_suspensions (wallet)
  where lifted_at is null;
create index key_suspensions_wallet_idx on service.key_suspensions (wallet);

-- Whether credit.low has fired for a wallet and is not armed again yet; and its threshold.
create table service.credit_alerts (
  wallet text constraint credit_alerts_pkey primary key,
  threshold_credits bigint not null default 100,
  is_low boolean not null default false,
  -- As of a key.
  without_account_since timestamptz default now(),
  constraint credit_alerts_threshold_credits_check check (threshold_credits >= 0)
);
create index credit_alerts_without_account_since_idx
  on service.credit_alerts (without_account_since) where without_account_since is not null;

-- Who is signed in to the web app. Only the hash of the cookie's token is kept.
create table service.sessions (
  token_sha256 bytea constraint sessions_pkey primary key,
  -- Names the session in its wallet's list; opens nothing.
  id text not null,
  wallet text not null,
  signed_in_at timestamptz not null default now(),
  last_used_at timestamptz not null default now(),
  browser text not null,
  constraint sessions_id_key unique (id)
);
create index sessions_wallet_idx on service.sessions (wallet, signed_in_at);
create index sessions_signed_in_at_idx on service.sessions (signed_in_at);

-- Every API process ends a session's streams, after any statement that ends it.
create function service.notify_session_end() returns trigger language plpgsql as $$
begin
  perform pg_notify('ended_sessions', old.id);
  return null;
end $$;
create trigger sessions_notify_end after delete on service.sessions
  for each row execute function service.notify_session_end();

-- Sign-ins that were used: none opens a second session, whichever process is asked.
create table service.used_sign_ins (
  nonce text constraint used_sign_ins_pkey primary key,
  expires_at timestamptz not null
);
create index used_sign_ins_expires_at_idx on service.used_sign_ins (expires_at);

-- Deletes rows that the API's user has found and locked, and returns a row for each. A right of its own
-- to delete would be one to lock whole tables, too.
create function service.delete_rows(of_table text, places tid[]) returns setof tid
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if of_table = any (array[
    'api_keys', 'sessions', 'idempotent_requests', 'worker_observations', 'webhooks',
    'webhook_deliveries', 'webhook_listeners', 'requested_deliveries'
  ]) then
    return query execute
      format('delete from service.%I where ctid = any($1) returning ctid', of_table) using places;
  else
    raise insufficient_privilege using message = format('delete_rows is not for %I', of_table);
  end if;
end $$;
revoke execute on function service.delete_rows from public;
