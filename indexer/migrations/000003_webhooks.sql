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
  constraint webhooks_wallet_url_events_key unique (wallet, url, events),
  constraint webhooks_status_check check (status in ('active', 'failed', 'disabled')),
  constraint webhooks_previous_secret_check check (
    (previous_secret is null) = (previous_secret_until is null)
  )
);
create index webhooks_wallet_created_at_idx on service.webhooks (wallet, created_at);

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
create index webhook_deliveries_webhook_id_idx on service.webhook_deliveries (webhook_id, id);
create index webhook_deliveries_signature_idx on service.webhook_deliveries (signature);
create index webhook_deliveries_stored_at_idx on service.webhook_deliveries (stored_at)
  where status <> 'pending';

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
  constraint webhook_attempts_pkey primary key (delivery_id, attempt),
  constraint webhook_attempts_delivery_id_fkey foreign key (delivery_id)
    references service.webhook_deliveries (id) on delete cascade
);

-- Whether credit.low has fired for a wallet and is not armed again yet; and its threshold.
create table service.credit_alerts (
  wallet text constraint credit_alerts_pkey primary key,
  threshold_credits bigint not null default 100,
  is_low boolean not null default false,
  constraint credit_alerts_threshold_credits_check check (threshold_credits >= 0)
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
