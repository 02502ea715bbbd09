-- First tokens of workers, from which the next requests are routed.
create table service.worker_observations (
  worker text not null,
  model_id text not null,
  first_token_ms integer not null,
  observed_at timestamptz not null default now()
);
create index worker_observations_model_id_observed_at_idx
  on service.worker_observations (model_id, observed_at);

-- What the API measured of jobs that passed through it; kept for 30 days. The ledger knows whole
-- seconds only.
create table service.job_timings (
  job text constraint job_timings_pkey primary key,
  wallet text not null,
  model_id text not null,
  measured_at timestamptz not null default now(),
  -- From the request's arrival to its confirmed lock.
  lock_ms integer,
  -- From the lock on.
  first_token_ms integer,
  worker_ms integer,
  -- From the whole answer to its confirmed settlement.
  settlement_ms integer
);
create index job_timings_wallet_idx on service.job_timings (wallet, measured_at);
create index job_timings_measured_at_idx on service.job_timings (measured_at);

-- How each worker did in each hour, as all APIs saw it; kept for 90 days. First tokens are counted by
-- their milliseconds, in classes of a quarter of a doubling, so that percentiles add up over hours.
create table service.worker_hours (
  worker text not null,
  model_id text not null,
  hour timestamptz not null,
  first_tokens integer not null default 0,
  -- Counts by class: class n holds what took up to 2^(n/4) ms.
  first_token_classes integer[] not null default '{}',
  failures integer not null default 0,
  constraint worker_hours_pkey primary key (worker, hour, model_id)
);
create index worker_hours_hour_idx on service.worker_hours (hour);

-- Probes name no model.
create table service.worker_probes (
  worker text not null,
  hour timestamptz not null,
  probes integer not null,
  answered integer not null,
  constraint worker_probes_pkey primary key (worker, hour)
);
create index worker_probes_hour_idx on service.worker_probes (hour);

-- What the APIs found of the parts that they need, in each minute; kept for 90 days.
create table service.readiness_minutes (
  minute timestamptz constraint readiness_minutes_pkey primary key,
  -- Those that were away for every API that looked.
  away text[] not null
);
create index readiness_minutes_away_idx on service.readiness_minutes (minute) where away <> '{}';

-- What the last canary of each worker and model found.
create table service.canary_verdicts (
  worker text not null,
  -- Its address.
  model text not null,
  has_passed boolean not null,
  -- Whether it kept each schema; null where none was asked.
  keeps_format boolean,
  -- Whether it called each tool that it had to; null where none was asked for.
  calls_tools boolean,
  -- When it last did.
  tools_called_at timestamptz,
  judged_at timestamptz not null default now(),
  constraint canary_verdicts_pkey primary key (worker, model)
);
