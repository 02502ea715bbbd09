-- The answer's copy: a request's row has no new version for it, and no index learns of one. A release
-- before this one keeps its copies in service.idempotent_requests, where they are still found.
create table service.answer_copies (
  job_id text constraint answer_copies_pkey primary key,
  -- Sealed under a key that only the client's own keys make; for ten minutes.
  answer bytea not null,
  expires_at timestamptz not null
);
create index answer_copies_expires_at_idx on service.answer_copies (expires_at);
