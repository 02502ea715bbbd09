-- Who receives which events. A webhook belongs to a wallet, whichever key made it.
create table service.webhooks (
  id text constraint webhooks_pkey primary key,
  wallet text not null,
  url text not null,
  -- Sorted, so that the same choice is the same value.
  events text[] not null,
  status text not null default 'active',
  -- Pinned at creation: the form of the bodies does not change under a receiver.
  api_version text not null,
  -- Sealed under SVC_SECRETS_KEY.
  secret bytea not null,
  -- While a rotation overlaps: signs beside the new one until then.
  previous_secret bytea,
  previous_secret_until timestamptz,
  created_at timestamptz not null default now(),
  constraint webhooks_status_check check (status in ('active', 'failed', 'disabled')),
  constraint webhooks_previous_secret_check check (
    (previous_secret is null) = (previous_secret_until is null)
  )
);
create index webhooks_wallet_created_at_idx on service.webhooks (wallet, created_at);
-- A webhook's url and events may be changed. Postgres takes the columns of a unique constraint for a key.
-- Its change locks the row also against the announcement of events, which would pass the webhook over. A
-- partial index is no key.
create unique index webhooks_wallet_url_events_idx on service.webhooks (wallet, url, events)
  where status is not null;

-- One event for one webhook, and how its delivery goes.
create table service.webhook_deliveries (
  id bigint generated always as identity constraint webhook_deliveries_pkey primary key,
  webhook_id text not null,
  event_id text not null,
  event text not null,
  -- The transaction that emitted the event; a test event has none.
  signature text,
  slot bigint,
  -- The ledger's time of the event.
  created_at timestamptz not null,
  -- The raw body, the same bytes at each attempt.
  body text not null,
  -- undelivered: the webhook was not active; kept for 30 days and can be replayed.
  status text not null,
  -- Those begun, written before the exchange: a process that dies in one does not take it back.
  attempts integer not null default 0,
  -- When the next attempt may begin; infinity while the event waits to be final.
  due_at timestamptz,
  stored_at timestamptz not null default now(),
  delivered_at timestamptz,
  -- Its owner asked for it, by a replay or a test: it goes to a webhook that has failed, too.
  is_requested boolean not null default false,
  -- Until then a process makes the attempt; what is taken for longer was taken by one that died.
  taken_until timestamptz,
  -- A webhook's events of one job are sent in their order.
  job_id text,
  constraint webhook_deliveries_webhook_id_fkey foreign key (webhook_id)
    references service.webhooks (id) on delete cascade,
  constraint webhook_deliveries_webhook_id_event_id_key unique (webhook_id, event_id),
  constraint webhook_deliveries_status_check check (
    status in ('pending', 'delivered', 'failed', 'undelivered')
  ),
  constraint webhook_deliveries_due_at_check check ((status = 'pending') = (due_at is not null))
);
create index webhook_deliveries_pending_idx on service.webhook_deliveries (due_at)
  where status = 'pending';
create index webhook_deliveries_signature_idx on service.webhook_deliveries (signature);
create index webhook_deliveries_stored_at_idx on service.webhook_deliveries (stored_at)
  where status <> 'pending';
-- What is due to each webhook, in its order.
create index webhook_deliveries_due_idx
  on service.webhook_deliveries (webhook_id, due_at, id)
  where status = 'pending' and due_at < 'infinity';
create index webhook_deliveries_taken_idx
  on service.webhook_deliveries (webhook_id)
  where taken_until is not null;
-- What lies at each webhook, by its state: the delivered ones, of which there may be millions, aside.
create index webhook_deliveries_backlog_idx
  on service.webhook_deliveries (webhook_id, status, id)
  where status <> 'delivered';
-- A webhook's tests, of which the newest are kept.
create index webhook_deliveries_tests_idx
  on service.webhook_deliveries (webhook_id, id)
  where signature is null;
-- The list of a wallet's deliveries: by time, by kind, and by job, which also finds what a later event of
-- the job waits for. Among 100,000 a rare one took 50 to 100 ms to find. In the order of ids alone, the
-- planner may read the deliveries of all wallets.
create index webhook_deliveries_created_at_idx
  on service.webhook_deliveries (webhook_id, created_at, id);
create index webhook_deliveries_job_id_idx
  on service.webhook_deliveries (webhook_id, job_id, id)
  where job_id is not null;
create index webhook_deliveries_event_idx
  on service.webhook_deliveries (webhook_id, event, created_at, id);

-- Every exchange with a receiver, as it went.
create table service.webhook_attempts (
  delivery_id bigint not null,
  attempt integer not null,
  started_at timestamptz not null default now(),
  -- Null while it runs, and for good when the process died in it.
  duration_ms integer,
  status_code integer,
  -- Why the attempt failed, in a word; null when it did not, and while it runs.
  error text,
  -- The beginning of the response, printable.
  response text,
  -- Where the attempt went.
  url text not null,
  constraint webhook_attempts_pkey primary key (delivery_id, attempt),
  constraint webhook_attempts_delivery_id_fkey foreign key (delivery_id)
    references service.webhook_deliveries (id) on delete cascade
);

-- How far events have been announced. Kept apart from the mirror, so that a rebuild of the mirror
-- cannot announce its events again.
create table service.announcements (
  is_only boolean constraint announcements_pkey primary key default true,
  -- Nothing up to this slot is announced any more.
  floor_slot bigint not null,
  -- The mirror's cursor when it last announced something.
  swept_slot bigint not null,
  constraint announcements_is_only_check check (is_only)
);

-- Deliveries that a test, a trigger or a replay requested. Each counts twice: for its wallet, and for
-- the host that it goes to. The budget limits those of a minute.
create table service.requested_deliveries (
  id bigint generated always as identity constraint requested_deliveries_pkey primary key,
  -- `wallet <address>` or `host <name>`.
  whose text not null,
  deliveries integer not null,
  requested_at timestamptz not null default clock_timestamp()
);
create index requested_deliveries_whose_idx on service.requested_deliveries (whose, requested_at);
create index requested_deliveries_requested_at_idx
  on service.requested_deliveries (requested_at);

-- Terminals that a wallet's events are sent to as they come (svc webhooks listen): one for each session.
create table service.webhook_listeners (
  session_id text constraint webhook_listeners_pkey primary key,
  wallet text not null,
  -- The connection that serves it. A later one takes over.
  stream_id text not null,
  -- Of its last event that was given a place.
  position bigint not null default 0,
  -- When a process last served it. One that no process serves is deleted.
  served_at timestamptz not null default now(),
  constraint webhook_listeners_session_id_fkey foreign key (session_id)
    references service.sessions (id) on delete cascade
);
create index webhook_listeners_wallet_idx on service.webhook_listeners (wallet);

-- One event for one listener.
create table service.listener_events (
  id bigint generated always as identity constraint listener_events_pkey primary key,
  session_id text not null,
  event_id text not null,
  -- The transaction that emitted the event; a test event has none.
  signature text,
  -- Whether the event waits until its transaction is final.
  awaits_finality boolean not null,
  body text not null,
  -- Its place in the order of sending; null before.
  position bigint,
  -- The status of the receiver behind the listener, 0 without an answer; null before it is known.
  status_code integer,
  stored_at timestamptz not null default now(),
  constraint listener_events_session_id_fkey foreign key (session_id)
    references service.webhook_listeners (session_id) on delete cascade,
  constraint listener_events_session_id_event_id_key unique (session_id, event_id)
);
create index listener_events_position_idx on service.listener_events (session_id, position, id);
create index listener_events_stored_at_idx on service.listener_events (stored_at);
