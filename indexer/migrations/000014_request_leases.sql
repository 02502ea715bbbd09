-- Which process runs a request: it renews the lease, and never settles without it.
alter table service.idempotent_requests
  -- For rows of a release without leases: no job lives longer.
  add column lease_expires_at timestamptz not null default now() + interval '125 seconds',
  -- The job of the repeat that took the lease to end job_id; null while it is with job_id's process.
  add column leased_by text;
