-- Every suspension of a key: who, when and why, and when it was lifted.
create table service.key_suspensions (
  id bigint generated always as identity constraint key_suspensions_pkey primary key,
  key_sha256 text not null,
  wallet text not null,
  suspended_at timestamptz not null default now(),
  suspended_by text not null,
  reason text not null,
  -- The ledger's time up to which the wallet was judged; null where nothing was counted.
  judged_at bigint,
  lifted_at timestamptz,
  -- Jobs locked up to this ledger time count no more.
  forgiven_until bigint,
  constraint key_suspensions_key_sha256_fkey foreign key (key_sha256)
    references service.api_keys (key_sha256) on delete cascade,
  constraint key_suspensions_suspended_by_check check (suspended_by in ('operator', 'indexer')),
  constraint key_suspensions_forgiven_until_check check (
    (lifted_at is null) = (forgiven_until is null)
  )
);
create unique index key_suspensions_open_idx on service.key_suspensions (key_sha256)
  where lifted_at is null;
create index key_suspensions_wallet_idx on service.key_suspensions (wallet);

insert into service.key_suspensions (key_sha256, wallet, suspended_at, suspended_by, reason)
  select key_sha256, wallet, coalesce(suspended_at, now()), 'operator', 'suspended before reasons were kept'
  from service.api_keys where status = 'suspended';

-- Said by the suspension now.
alter table service.api_keys drop column suspended_at;
