-- Version 3 of the program's accounts, and what its events say of a proof.
alter table models add column card_hash text;

alter table jobs
  add column limit_day bigint not null default 0,
  add column request_commitment text,
  add column proof_key text;

-- What is folded already says the same as the journal.
update models set card_hash = nullif(newest.data ->> 'cardHash', repeat('0', 64))
from (
  select distinct on (data ->> 'model') data from journal
  where folded and event_name = 'ModelUpserted'
  order by data ->> 'model', (data ->> 'modelSequence')::numeric desc
) newest
where address = newest.data ->> 'model';

update jobs set limit_day = (data ->> 'limitDay')::bigint
from journal
where folded and event_name = 'JobLocked' and data ? 'limitDay' and address = data ->> 'job';

-- An acknowledgement has neither, and puts aside those of the attempt before.
update jobs set
  request_commitment = newest.data ->> 'requestCommitment',
  proof_key = newest.data ->> 'proofKey'
from (
  select distinct on (data ->> 'job') data from journal
  where folded and event_name in ('JobAcknowledged', 'JobProven', 'JobCompleted')
  order by data ->> 'job', (data ->> 'jobSequence')::bigint desc
) newest
where address = newest.data ->> 'job';
