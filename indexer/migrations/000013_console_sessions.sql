-- Who is signed in to the web app. Only the hash of the cookie's token is kept.
create table service.sessions (
  token_sha256 bytea constraint sessions_pkey primary key,
  -- Names the session in its wallet's list; opens nothing.
  id text not null,
  wallet text not null,
  signed_in_at timestamptz not null default now(),
  last_used_at timestamptz not null default now(),
  browser text not null,
  constraint sessions_id_key unique (id)
);
create index sessions_wallet_idx on service.sessions (wallet, signed_in_at);
create index sessions_signed_in_at_idx on service.sessions (signed_in_at);

-- Sign-ins that were used: none opens a second session, whichever process is asked.
create table service.used_sign_ins (
  nonce text constraint used_sign_ins_pkey primary key,
  expires_at timestamptz not null
);
create index used_sign_ins_expires_at_idx on service.used_sign_ins (expires_at);
