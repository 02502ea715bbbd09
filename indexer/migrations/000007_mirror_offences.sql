-- What can count against a wallet, by the ledger's time at which it ended.
create index jobs_unpaid_idx on jobs (ended_at)
  where failure_reason in ('client_gone', 'empty_output');
create index jobs_lost_disputes_idx on jobs (resolved_at)
  where outcome in ('rejected', 'expired');
