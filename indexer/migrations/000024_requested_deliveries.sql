-- Deliveries that a test, a trigger or a replay requested. Each counts twice: for its wallet, and for
-- the host that it goes to. The budget limits those of a minute.
create table service.requested_deliveries (
  id bigint generated always as identity constraint requested_deliveries_pkey primary key,
  -- `wallet <address>` or `host <name>`.
  whose text not null,
  deliveries integer not null,
  requested_at timestamptz not null default clock_timestamp()
);
create index requested_deliveries_whose_idx on service.requested_deliveries (whose, requested_at);
create index requested_deliveries_requested_at_idx
  on service.requested_deliveries (requested_at);

-- A webhook's tests, of which the newest are kept.
create index webhook_deliveries_tests_idx
  on service.webhook_deliveries (webhook_id, id)
  where signature is null;
