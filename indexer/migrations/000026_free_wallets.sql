-- Rows that a wallet without an account on the ledger can make are deleted after a time. The column
-- is null for good once the wallet had an account. A mirror that is being rebuilt knows no account,
-- and every customer's key would be deleted.
alter table service.api_keys add column without_account_since timestamptz default now();
alter table service.credit_alerts add column without_account_since timestamptz default now();
create index api_keys_without_account_since_idx on service.api_keys (without_account_since)
  where without_account_since is not null;
create index credit_alerts_without_account_since_idx
  on service.credit_alerts (without_account_since) where without_account_since is not null;
create index api_keys_wallet_revoked_at_idx on service.api_keys (wallet, revoked_at);
create index api_keys_revoked_at_idx on service.api_keys (revoked_at) where revoked_at is not null;

-- Every API process ends a session's streams, after any statement that ends it.
create function service.notify_session_end() returns trigger language plpgsql as $$
begin
  perform pg_notify('ended_sessions', old.id);
  return null;
end $$;
create trigger sessions_notify_end after delete on service.sessions
  for each row execute function service.notify_session_end();
