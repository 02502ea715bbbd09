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
  stored_at timestamptz not null default now(),
  constraint listener_events_session_id_fkey foreign key (session_id)
    references service.webhook_listeners (session_id) on delete cascade,
  constraint listener_events_session_id_event_id_key unique (session_id, event_id)
);
create index listener_events_position_idx on service.listener_events (session_id, position, id);
create index listener_events_stored_at_idx on service.listener_events (stored_at);
