-- Which requests without an Idempotency-Key may be repeated: those whose answer may have been lost.
alter table service.idempotent_requests
  -- When the connection was over without the whole answer; null while it is open. The default is for
  -- a release that does not know it: of its requests any may be repeated.
  add column lost_at timestamptz default now();
