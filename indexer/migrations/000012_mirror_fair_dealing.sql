-- Version 2 of the program's accounts.
alter table config
  add column treasury_floor_credits numeric(20) not null default 0,
  add column earlier_floor_credits numeric(20) not null default 0,
  add column earlier_floor_ends_at bigint;

alter table gateways add column vouched boolean not null default false;

alter table workers
  add column unstake_cooldown_seconds bigint not null default 0,
  add column previous_proof_key text,
  add column proof_key_changed_at bigint;

alter table jobs
  add column vouched boolean not null default false,
  add column disputed_by_wallet boolean not null default false;

-- What is folded already says the same as the journal.
update config set
  treasury_floor_credits = coalesce((newest.data ->> 'treasuryFloorCredits')::numeric, 0),
  earlier_floor_credits = coalesce((newest.data ->> 'earlierFloorCredits')::numeric, 0),
  earlier_floor_ends_at = nullif((newest.data ->> 'earlierFloorEndsAt')::bigint, 0)
from (
  select data from journal
  where folded and event_name in ('ConfigInitialized', 'ConfigUpdated')
  order by (data ->> 'configSequence')::numeric desc limit 1
) newest;

update gateways set vouched = (newest.data ->> 'vouched')::boolean
from (
  select distinct on (data ->> 'gateway') data from journal
  where folded and event_name = 'GatewayVouched'
  order by data ->> 'gateway', (data ->> 'gatewaySequence')::numeric desc
) newest
where address = newest.data ->> 'gateway';

update workers set
  unstake_cooldown_seconds = coalesce((newest.data ->> 'unstakeCooldownSeconds')::bigint, 0)
from (
  select distinct on (data ->> 'worker') data from journal
  where folded and event_name = 'StakeDeposited'
  order by data ->> 'worker', (data ->> 'workerSequence')::numeric desc
) newest
where address = newest.data ->> 'worker';

update workers set
  previous_proof_key =
    nullif(newest.data ->> 'previousProofKey', '11111111111111111111111111111111'),
  proof_key_changed_at = nullif((newest.data ->> 'proofKeyChangedAt')::bigint, 0)
from (
  select distinct on (data ->> 'worker') data from journal
  where folded and event_name = 'WorkerUpdated'
  order by data ->> 'worker', (data ->> 'workerSequence')::numeric desc
) newest
where address = newest.data ->> 'worker';

update jobs set vouched = true
from journal
where folded and event_name = 'JobLocked'
  and (data ->> 'vouched')::boolean and address = data ->> 'job';

update jobs set disputed_by_wallet = true
from journal
where folded and address = data ->> 'job'
  and (event_name = 'DisputeAmended'
    or event_name = 'JobDisputed' and (data ->> 'disputedByWallet')::boolean);
