-- A webhook's url and events may be changed. Postgres takes the columns of a unique constraint for a key.
-- Its change locks the row also against the announcement of events, which would pass the webhook over. A
-- partial index is no key.
alter table service.webhooks drop constraint webhooks_wallet_url_events_key;
create unique index webhooks_wallet_url_events_idx on service.webhooks (wallet, url, events)
  where status is not null;

-- Where the attempt went; null of those that an earlier release began.
alter table service.webhook_attempts add column url text;

-- The list of a wallet's deliveries: by time, by kind, and by job, which also finds what a later event of
-- the job waits for. Among 100,000 a rare one took 50 to 100 ms to find. In the order of ids alone, the
-- planner may read the deliveries of all wallets.
drop index service.webhook_deliveries_webhook_id_idx;
create index webhook_deliveries_created_at_idx
  on service.webhook_deliveries (webhook_id, created_at, id);
drop index service.webhook_deliveries_job_idx;
create index webhook_deliveries_job_id_idx
  on service.webhook_deliveries (webhook_id, job_id, id)
  where job_id is not null;
create index webhook_deliveries_event_idx
  on service.webhook_deliveries (webhook_id, event, created_at, id);
