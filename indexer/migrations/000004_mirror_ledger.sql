-- Which ledger, and which program on it, the mirror shows. Written by the first sync.
create table ledger (
  is_only boolean constraint ledger_pkey primary key default true,
  genesis_hash text not null,
  program_id text not null,
  constraint ledger_is_only_check check (is_only)
);
