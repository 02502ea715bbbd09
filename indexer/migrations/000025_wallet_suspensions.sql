-- A suspension is the wallet's until it is lifted, with any keys. It was one key's
-- before, and a wallet that revoked the key and made another was rid of it. `suspended` among the
-- states of a key is left to the release before, which still reads and writes it beside this one.
alter table service.key_suspensions
  drop constraint key_suspensions_key_sha256_fkey,
  alter column key_sha256 drop not null;

insert into service.key_suspensions (wallet, suspended_by, reason)
  select wallet, 'operator', 'suspended before reasons were kept'
  from service.api_keys key
  where status = 'suspended' and not exists (
    select from service.key_suspensions open
    where open.wallet = key.wallet and open.lifted_at is null
  );

-- A wallet that was rid of one may have got another: the newest stays, and nothing is forgiven.
update service.key_suspensions older set lifted_at = now(), forgiven_until = 0
  where lifted_at is null and exists (
    select from service.key_suspensions newer
    where newer.wallet = older.wallet and newer.lifted_at is null and newer.id > older.id
  );

drop index service.key_suspensions_open_idx;
create unique index key_suspensions_open_idx on service.key_suspensions (wallet)
  where lifted_at is null;
