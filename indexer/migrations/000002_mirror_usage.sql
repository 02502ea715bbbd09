-- What wallets used, by the hour in which jobs were locked. Follows the jobs' table by itself, so
-- that it is right wherever that is: when it is folded, undone, rebuilt, or repaired by hand.
create table usage_hours (
  wallet text not null,
  -- Ledger seconds of its start.
  hour bigint not null,
  -- Compared by bytes, which is several times as fast as by a language's order.
  model_id text collate "C" not null,
  -- Empty for jobs that no worker took.
  worker text collate "C" not null,
  jobs bigint not null,
  settled bigint not null,
  failed bigint not null,
  refunded bigint not null,
  charged_credits bigint not null,
  prompt_tokens bigint not null,
  completion_tokens bigint not null,
  -- How much of it was charged at the rate for long texts; the rest was charged per request.
  long_jobs bigint not null default 0,
  long_credits bigint not null default 0,
  constraint usage_hours_pkey primary key (wallet, hour, model_id, worker)
);
create index usage_hours_hour_idx on usage_hours (hour);

-- One job's part of an hour, `times` 1 to add it and -1 to take it away. The table is named by the
-- caller: a function of its own schema would follow neither a rebuild nor a restored backup.
create function count_usage(schema text, job jobs, times integer) returns void
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

create function follow_jobs() returns trigger
language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    execute format('select %I.count_usage($1, $2, -1)', tg_table_schema) using tg_table_schema, old;
  end if;
  if tg_op <> 'DELETE' then
    execute format('select %I.count_usage($1, $2, 1)', tg_table_schema) using tg_table_schema, new;
  end if;
  return null;
end $$;

-- New jobs are counted together, however many a statement makes.
create function count_made_jobs() returns trigger
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

create trigger jobs_usage_made after insert on jobs
  referencing new table as made for each statement execute function count_made_jobs();
create trigger jobs_usage_lost after delete on jobs
  for each row execute function follow_jobs();
create trigger jobs_usage_changed after update on jobs
  for each row when (
    (old.wallet, old.locked_at, old.model_id, old.worker, old.charged_credits, old.prompt_tokens,
     least(old.completion_tokens, old.counted_tokens), old.status in ('settled', 'disputed'),
     old.status = 'failed', old.status = 'refunded')
    is distinct from
    (new.wallet, new.locked_at, new.model_id, new.worker, new.charged_credits, new.prompt_tokens,
     least(new.completion_tokens, new.counted_tokens), new.status in ('settled', 'disputed'),
     new.status = 'failed', new.status = 'refunded')
  )
  execute function follow_jobs();
