/** "svcl", which SQLite keeps in the file's header: what another program wrote is not ours. */
export const APPLICATION_ID = 0x7376636c;
/** Grows with every change of the tables; older files are refused, not migrated. */
export const STORE_VERSION = 1;

/**
 * The ledger's file. A block is written whole by one transaction, before anybody is told that it is
 * confirmed. `position` counts all transactions in the order of the ledger.
 *
 * SQLite checks the form of its pages and not what is in them, so each account and each
 * transaction has a checksum of its own.
 */
export const SCHEMA = `
  create table ledger (name text primary key, value any not null) strict, without rowid;

  create table time_anchors (
    slot integer primary key,
    wall_ms integer not null,
    slot_ms integer not null,
    clock_ms integer not null,
    is_clock_running integer not null
  ) strict;

  create table accounts (
    address blob primary key,
    state blob not null,
    checksum integer not null
  ) strict, without rowid;

  create table blocks (
    slot integer primary key,
    clock_ms integer not null,
    first_position integer not null,
    last_position integer not null
  ) strict;

  create table transactions (
    position integer primary key,
    signature blob not null unique,
    slot integer not null,
    error text,
    memo text,
    wire blob not null,
    meta text not null,
    checksum integer not null
  ) strict;

  create table mentions (
    address blob not null,
    position integer not null,
    primary key (address, position)
  ) strict, without rowid;
`;
