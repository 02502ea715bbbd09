-- A webhook's events of one job are sent in their order.
alter table service.webhook_deliveries add column job_id text;

update service.webhook_deliveries set job_id = body::jsonb #>> '{data,job_id}'
where status in ('pending', 'undelivered', 'failed') and event like 'job.%';

-- What a later event of the job waits for.
create index webhook_deliveries_job_idx
  on service.webhook_deliveries (webhook_id, job_id, id)
  where status = 'pending' and job_id is not null;
