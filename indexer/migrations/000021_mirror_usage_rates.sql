-- How much of an hour's usage was charged at the rate for long texts; the rest was charged per
-- request. No job may be counted the old way once the hours before are added up.
lock table jobs in share row exclusive mode;

alter table usage_hours
  add column long_jobs bigint not null default 0,
  add column long_credits bigint not null default 0;

create or replace function count_usage(schema text, job jobs, times integer) returns void
language plpgsql as $$
declare
  is_long integer := coalesce(job.status in ('settled', 'disputed')
    and least(job.completion_tokens, job.counted_tokens) > job.long_completion_threshold_tokens,
    false)::integer;
begin
  execute format(
    'insert into %1$I.usage_hours as usage
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
     on conflict (wallet, hour, model_id, worker) do update set
       jobs = usage.jobs + excluded.jobs,
       settled = usage.settled + excluded.settled,
       failed = usage.failed + excluded.failed,
       refunded = usage.refunded + excluded.refunded,
       charged_credits = usage.charged_credits + excluded.charged_credits,
       prompt_tokens = usage.prompt_tokens + excluded.prompt_tokens,
       completion_tokens = usage.completion_tokens + excluded.completion_tokens,
       long_jobs = usage.long_jobs + excluded.long_jobs,
       long_credits = usage.long_credits + excluded.long_credits', schema)
  using job.wallet, job.locked_at - job.locked_at % 3600, job.model_id, coalesce(job.worker, ''),
    times, times * (job.status in ('settled', 'disputed'))::integer,
    times * (job.status = 'failed')::integer, times * (job.status = 'refunded')::integer,
    times * job.charged_credits, times * coalesce(job.prompt_tokens, 0),
    times * coalesce(least(job.completion_tokens, job.counted_tokens), 0),
    times * is_long, times * is_long * job.charged_credits;
  if times < 0 then
    execute format(
      'delete from %I.usage_hours
       where wallet = $1 and hour = $2 and model_id = $3 and worker = $4 and jobs = 0', schema)
    using job.wallet, job.locked_at - job.locked_at % 3600, job.model_id, coalesce(job.worker, '');
  end if;
end $$;

create or replace function count_made_jobs() returns trigger
language plpgsql as $$
begin
  execute format(
    'insert into %1$I.usage_hours as usage
     select wallet, locked_at - locked_at %% 3600, model_id, coalesce(worker, ''''), count(*),
       count(*) filter (where status in (''settled'', ''disputed'')),
       count(*) filter (where status = ''failed''), count(*) filter (where status = ''refunded''),
       sum(charged_credits), sum(coalesce(prompt_tokens, 0)),
       sum(coalesce(least(completion_tokens, counted_tokens), 0)),
       count(*) filter (where is_long), coalesce(sum(charged_credits) filter (where is_long), 0)
     from made cross join lateral (select made.status in (''settled'', ''disputed'')
       and least(made.completion_tokens, made.counted_tokens)
         > made.long_completion_threshold_tokens as is_long) as charge
     group by 1, 2, 3, 4
     on conflict (wallet, hour, model_id, worker) do update set
       jobs = usage.jobs + excluded.jobs,
       settled = usage.settled + excluded.settled,
       failed = usage.failed + excluded.failed,
       refunded = usage.refunded + excluded.refunded,
       charged_credits = usage.charged_credits + excluded.charged_credits,
       prompt_tokens = usage.prompt_tokens + excluded.prompt_tokens,
       completion_tokens = usage.completion_tokens + excluded.completion_tokens,
       long_jobs = usage.long_jobs + excluded.long_jobs,
       long_credits = usage.long_credits + excluded.long_credits', tg_table_schema);
  return null;
end $$;

update usage_hours as usage set long_jobs = long.jobs, long_credits = long.credits
from (
  select wallet, locked_at - locked_at % 3600 as hour, model_id, coalesce(worker, '') as worker,
    count(*) as jobs, sum(charged_credits) as credits
  from jobs
  where status in ('settled', 'disputed')
    and least(completion_tokens, counted_tokens) > long_completion_threshold_tokens
  group by 1, 2, 3, 4
) as long
where (usage.wallet, usage.hour, usage.model_id, usage.worker)
  = (long.wallet, long.hour, long.model_id, long.worker);
