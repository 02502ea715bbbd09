-- An attempt is due in one table: its delivery's. The process that makes it takes the row for a while.
drop schema if exists pgboss cascade;

alter table service.webhook_deliveries
  -- Its owner asked for it, by a replay or a test: it goes to a webhook that has failed, too.
  add column is_requested boolean not null default false,
  -- Until then a process makes the attempt; what is taken for longer was taken by one that died.
  add column taken_until timestamptz;

-- What is due to each webhook, in its order.
create index webhook_deliveries_due_idx
  on service.webhook_deliveries (webhook_id, due_at, id)
  where status = 'pending' and due_at < 'infinity';
create index webhook_deliveries_taken_idx
  on service.webhook_deliveries (webhook_id)
  where taken_until is not null;
