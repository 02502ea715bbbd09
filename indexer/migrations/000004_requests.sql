-- Names requests and their copies, so that neither can be guessed from the database. Sealed under
-- SVC_SECRETS_KEY: a change of that key seals it again, and every request keeps its name.
create table service.request_secret (
  is_only boolean constraint request_secret_pkey primary key default true,
  secret bytea not null,
  constraint request_secret_is_only_check check (is_only)
);

-- Which job a request became, so that the same request again is not charged again.
create table service.idempotent_requests (
  wallet text not null,
  -- HMAC of the Idempotency-Key; of the body where a request came without one.
  request_key bytea not null,
  body_hmac bytea not null,
  -- Made before its lock is sent. The ledger has whether it exists, and how it ended.
  job_id text not null,
  expires_at timestamptz not null,
  -- The process that runs the request renews its lease, and never settles without it. No job lives
  -- longer than the default.
  lease_expires_at timestamptz not null default now() + interval '125 seconds',
  -- The job of the repeat that took the lease to end job_id; null while it is with job_id's process.
  leased_by text,
  -- When the connection was over without the whole answer; null while it is open. Without an
  -- Idempotency-Key only a request whose answer may have been lost is repeated.
  lost_at timestamptz default now(),
  constraint idempotent_requests_pkey primary key (wallet, request_key)
);
create index idempotent_requests_expires_at_idx on service.idempotent_requests (expires_at);

-- The answer's copy. It is no column of the request: that row would have a new version for it.
create table service.answer_copies (
  job_id text constraint answer_copies_pkey primary key,
  -- Sealed under a key that only the client's own keys make; for ten minutes.
  answer bytea not null,
  expires_at timestamptz not null
);
create index answer_copies_expires_at_idx on service.answer_copies (expires_at);
