-- Which job a request became, so that the same request again is not charged again.
create table service.idempotent_requests (
  wallet text not null,
  -- HMAC of the Idempotency-Key; of the body where a request came without one.
  request_key bytea not null,
  body_hmac bytea not null,
  -- Made before its lock is sent. The ledger has whether it exists, and how it ended.
  job_id text not null,
  expires_at timestamptz not null,
  -- The answer, sealed under a key that only the client's own keys make; for ten minutes.
  answer bytea,
  answer_expires_at timestamptz,
  constraint idempotent_requests_pkey primary key (wallet, request_key),
  constraint idempotent_requests_answer_check check (
    (answer is null) = (answer_expires_at is null)
  )
);
create index idempotent_requests_expires_at_idx on service.idempotent_requests (expires_at);
create index idempotent_requests_answer_expires_at_idx
  on service.idempotent_requests (answer_expires_at) where answer is not null;
