import { PublicKey } from '@solana/web3.js';
import {
  type AccountName,
  type Accounts,
  gatewaySigners,
  isEnded,
  modelText,
  workerEndpoint,
} from '../../programs/client/accounts.ts';
import {
  accountSize,
  DISCRIMINATOR_BYTES,
  decodeStruct,
  IDL,
  type Value,
} from '../../programs/client/codec.ts';
import type { EventName, Events } from '../../programs/client/events.ts';
import { BASE_UNITS_PER_CREDIT } from '../../programs/client/generated/constants.ts';
import type { Job } from '../../programs/client/generated/types.ts';
import { camelCase, type Field, type FieldType } from '../../programs/client/interface.ts';

/*
 * The tables that mirror the program's accounts. Each field of an account has a column of its name
 * and type, and each event overwrites the columns that its fields name. What deviates from that
 * stands in `MIRROR_TABLES`, and nowhere else. A test compares it with the schema of the database.
 */

/** A value of a row, as PostgreSQL returns it, or as an event of the journal has it. */
export type Cell = string | number | bigint | boolean | null | readonly string[];

/**
 * A value as the journal keeps it, in JSON without loss: 64-bit integers in decimal, keys in
 * base58, bytes in lower-case hex.
 */
export type Journaled<Plain> = Plain extends bigint | PublicKey | Uint8Array
  ? string
  : Plain extends PublicKey[]
    ? string[]
    : Plain extends string | number | boolean
      ? Plain
      : { [Key in keyof Plain]: Journaled<Plain[Key]> };

/** An event of the journal, with its place on the ledger. */
export interface JournaledEvent<Name extends EventName> {
  readonly data: Journaled<Events[Name]>;
  readonly signature: string;
  readonly slot: bigint;
}

/** The value of a column after an event: a field of it, or what is made of it; undefined: as before. */
type After<Name extends EventName> =
  | Extract<keyof Events[Name], string>
  | ((event: JournaledEvent<Name>) => Cell | undefined);

/** What of a column does not follow from the account's field, and from the fields of events. */
interface Exception<Account> {
  /** Its type in PostgreSQL, where the account has no field of its name. */
  readonly type?: string;
  readonly isNullable?: boolean;
  /** Reads it from the account: undefined where the account does not show it. */
  readonly account?: (account: Account) => Value | null | undefined;
  /** Applied to each value that an account or event has. */
  readonly convert?: (cell: Cell) => Cell;
  /** Events that overwrite it by another value than their field of its name. */
  readonly events?: { readonly [Name in EventName]?: After<Name> };
  /** An event that leaves this other column as it was leaves this one, too. */
  readonly changesWith?: string;
}

interface Column extends Exception<never> {
  readonly type: string;
}

interface MirrorTable {
  readonly account: AccountName;
  /** The events' fields with the account's address and its sequence; null: it has a fixed address. */
  readonly address: string | null;
  readonly sequence: string;
  readonly columns: ReadonlyMap<string, Column>;
  /** The columns that change only with another one, and that one. */
  readonly paired: readonly (readonly [column: string, other: string])[];
}

const SQL_TYPES: Readonly<Record<string, string>> = {
  bool: 'boolean',
  u8: 'integer',
  u16: 'integer',
  u32: 'bigint',
  i64: 'bigint',
  u64: 'numeric(20,0)',
};

/**
 * Fields without a column: an account's form, and the times that a job counts from its lock. A
 * worker's models have a table of their own.
 */
const WITHOUT_COLUMN =
  /^(version|bump|vault_authority_bump|sequence|reserved|models)$|_len$|_after_seconds$/;

/** Events that say what several others say, in this order. Each column follows the last that names it. */
export const STEPS: { readonly [Name in EventName]?: readonly EventName[] } = {
  JobCompleted: ['JobAcknowledged', 'JobProven', 'JobSettled'],
};

/** Accounts and events write "none" and "never" as one of these. */
const NOTHING: ReadonlySet<Cell> = new Set([
  ...[0, 0n, '0', 'none', PublicKey.default.toBase58()],
  '0'.repeat(64),
]);
const nullIfNone = {
  isNullable: true,
  convert: (cell: Cell): Cell => (NOTHING.has(cell) ? null : cell),
};

const to = (cell: Cell) => (): Cell => cell;
const signature = (event: { signature: string }): string => event.signature;
const slot = (event: { slot: bigint }): bigint => event.slot;

const TEXT = { type: 'text' };
const SECONDS = { type: 'bigint', isNullable: true };
const TRANSACTION = { type: 'text', isNullable: true };
const BASE_UNITS = { type: 'numeric(20,0)', isNullable: true };

/** The time of a job that its account counts from the lock; null while it has not come. */
const since =
  (hasCome: (job: Job) => boolean, seconds: (job: Job) => number) =>
  (job: Job): bigint | null =>
    hasCome(job) ? job.lockedAt + BigInt(seconds(job)) : null;
const isSettled = (job: Job): boolean => job.countedTokens > 0;
const isDisputed = (job: Job): boolean => job.status === 'disputed' || job.outcome !== 'none';

/** A column of the worker's proof, which a later attempt voids. */
const ofProof = (read: (job: Job) => Value | undefined) => ({
  isNullable: true,
  account(job: Job) {
    if (job.status === 'pending' || job.status === 'processing') return null;
    // A worker may prove a hash of zeros. Then a job that failed does not show its proof.
    const isProven =
      job.status === 'settling' || isSettled(job) || job.outputHash.some((byte) => byte !== 0);
    return isProven ? read(job) : undefined;
  },
  events: { JobAcknowledged: to(null) },
});
/** A part of the proof that the account does not keep. */
const UNKEPT = { ...TEXT, ...ofProof(() => undefined) };
const PROVEN_AT = ofProof((job) => job.lockedAt + BigInt(job.provenAfterSeconds));

export const MIRROR_TABLES = {
  config: table('Config', [null, 'configSequence'], {
    pending_authority: { ...nullIfNone, events: { AuthorityAccepted: to(null) } },
    earlier_floor_ends_at: nullIfNone,
  }),
  treasury: table('Treasury', [null, 'treasurySequence'], {
    unpaid_base_units: { events: { JobSettled: 'treasuryUnpaidBaseUnits' } },
  }),
  gateways: table('Gateway', ['gateway', 'gatewaySequence'], {
    signers: { account: gatewaySigners },
  }),
  credit_accounts: table('CreditAccount', ['creditAccount', 'creditSequence'], {
    spender: nullIfNone,
    locked_credits: {
      events: {
        JobLocked: 'accountLockedCredits',
        JobSettled: 'accountLockedCredits',
        JobFailed: 'accountLockedCredits',
        JobRefunded: 'accountLockedCredits',
      },
    },
    owed_credits: {
      events: {
        ClaimPaid: ({ data }) => `${BigInt(data.remainingBaseUnits) / BASE_UNITS_PER_CREDIT}`,
      },
    },
    opened_at: { events: { CreditOpened: 'unixTime' } },
    last_topup_at: { ...nullIfNone, events: { CreditBought: 'unixTime' } },
  }),
  models: table('Model', ['model', 'modelSequence'], {
    id: { account: (model) => modelText(model).id },
    label: { account: (model) => modelText(model).label },
    originator: { account: (model) => modelText(model).originator },
    retires_at: nullIfNone,
    card_hash: nullIfNone,
  }),
  workers: table('Worker', ['worker', 'workerSequence'], {
    endpoint: { account: workerEndpoint },
    status: {
      events: {
        WorkerSuspended: ({ data }) => (data.suspended ? 'suspended' : 'active'),
        WorkerDeregistered: to('deregistered'),
      },
    },
    unstake_ready_at: {
      ...nullIfNone,
      // With no stake left to wait for, the program ends the cooldown.
      events: { DisputeResolved: ({ data }) => (data.unstakingTokens === '0' ? null : undefined) },
    },
    claimable_base_units: {
      events: { JobSettled: 'workerClaimableBaseUnits', ClaimPaid: 'remainingBaseUnits' },
    },
    registered_at: { events: { WorkerRegistered: 'unixTime' } },
    previous_proof_key: nullIfNone,
    proof_key_changed_at: nullIfNone,
  }),
  jobs: table('Job', ['job', 'jobSequence'], {
    job_id: { convert: (hex) => `job_${hex}` },
    wallet: TEXT,
    model_id: TEXT,
    status: {
      events: {
        JobAcknowledged: to('processing'),
        JobProven: to('settling'),
        JobSettled: to('settled'),
        JobFailed: to('failed'),
        JobRefunded: to('refunded'),
        JobDisputed: to('disputed'),
        DisputeResolved: ({ data }) => (data.verdict === 'rejected' ? 'settled' : 'refunded'),
        DisputeExpired: to('settled'),
      },
    },
    outcome: {
      ...nullIfNone,
      events: { DisputeResolved: 'verdict', DisputeExpired: to('expired') },
    },
    failure_reason: { ...nullIfNone, events: { JobFailed: 'reason' } },
    worker: nullIfNone,
    settled_by: nullIfNone,
    output_hash: ofProof((job) => job.outputHash),
    statement: UNKEPT,
    proof_key: UNKEPT,
    prompt_tokens: ofProof((job) => job.promptTokens),
    completion_tokens: ofProof((job) => job.completionTokens),
    counted_tokens: nullIfNone,
    locked_at: { events: { JobLocked: 'unixTime' } },
    acknowledged_at: {
      ...SECONDS,
      account: since(
        (job) => job.attempt > 0,
        (job) => job.acknowledgedAfterSeconds,
      ),
      events: { JobAcknowledged: 'unixTime' },
      // A JobCompleted repeats an attempt that was acknowledged apart, and had its time then.
      changesWith: 'attempt',
    },
    proven_at: {
      ...SECONDS,
      ...PROVEN_AT,
      events: { ...PROVEN_AT.events, JobProven: 'unixTime' },
    },
    settled_at: {
      ...SECONDS,
      account: since(isSettled, (job) => job.endedAfterSeconds),
      events: { JobSettled: 'unixTime' },
    },
    ended_at: {
      ...SECONDS,
      account: since(
        (job) => isEnded(job.status),
        (job) => job.endedAfterSeconds,
      ),
      events: { JobSettled: 'unixTime', JobFailed: 'unixTime', JobRefunded: 'unixTime' },
    },
    escrow_tx: { ...TEXT, events: { JobLocked: signature } },
    escrow_slot: { type: 'bigint', events: { JobLocked: slot } },
    settlement_tx: { ...TRANSACTION, events: { JobSettled: signature } },
    settlement_slot: { type: 'bigint', isNullable: true, events: { JobSettled: slot } },
    refund_tx: { ...TRANSACTION, events: { JobFailed: signature, JobRefunded: signature } },
    client_hash: { isNullable: true, account: (job) => (isDisputed(job) ? job.clientHash : null) },
    dispute_tx: { ...TRANSACTION, events: { JobDisputed: signature } },
    disputed_at: {
      ...SECONDS,
      account: since(isDisputed, (job) => job.disputedAfterSeconds),
      events: { JobDisputed: 'unixTime' },
    },
    arbitration_ends_at: {
      ...SECONDS,
      account: since(isDisputed, (job) => job.disputedAfterSeconds + job.arbitrationWindowSeconds),
    },
    disputed_by_wallet: { events: { DisputeAmended: to(true) } },
    resolution_tx: {
      ...TRANSACTION,
      events: { DisputeResolved: signature, DisputeExpired: signature },
    },
    resolved_at: {
      ...SECONDS,
      account: since(
        (job) => job.outcome !== 'none',
        (job) => job.resolvedAfterSeconds,
      ),
      events: { DisputeResolved: 'unixTime', DisputeExpired: 'unixTime' },
    },
    worker_base_units: BASE_UNITS,
    treasury_base_units: BASE_UNITS,
    // The account is gone from the ledger; its row stays, since clients still read the job.
    closed: { type: 'boolean', account: () => false, events: { JobClosed: to(true) } },
  }),
} satisfies Record<string, MirrorTable>;

export type TableName = keyof typeof MIRROR_TABLES;

export const TABLE_NAMES = Object.keys(MIRROR_TABLES) as readonly TableName[];

function table<Name extends AccountName>(
  account: Name,
  [address, sequence]: readonly [address: string | null, sequence: string],
  exceptions: Readonly<Record<string, Exception<Accounts[Name]>>>,
): MirrorTable {
  const columns = new Map<string, Column>();
  for (const { name, type } of fieldsOf(account)) {
    if (WITHOUT_COLUMN.test(name)) continue;
    const field = camelCase(name);
    const read = (data: Record<string, Value>): Value | undefined => data[field];
    columns.set(name, { type: sqlTypeOf(type), account: read });
  }
  for (const [name, exception] of Object.entries(exceptions)) {
    columns.set(name, { type: 'unknown', ...columns.get(name), ...exception });
  }
  const paired = [...columns].flatMap(([name, { changesWith }]) =>
    changesWith === undefined ? [] : [[name, changesWith] as const],
  );
  return { account, address, sequence, columns, paired };
}

/** The fields of an account or event, as the IDL names them. */
export function fieldsOf(name: string): readonly Field[] {
  const type = IDL.types.find((one) => one.name === name)?.type;
  if (type?.kind !== 'struct') throw new Error(`The program's interface has no ${name}`);
  return type.fields;
}

/** Keys are kept in base58, bytes in hex, and enumerations by their words. */
function sqlTypeOf(type: FieldType): string {
  if (typeof type === 'string') return SQL_TYPES[type] ?? 'text';
  return 'array' in type && type.array[0] === 'pubkey' ? 'text[]' : 'text';
}

/** A value of an account or event as a cell of the type that its field has in PostgreSQL. */
export function cellOf(value: Value): Cell {
  if (value instanceof PublicKey) return value.toBase58();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return Array.isArray(value) ? value.map((key) => key.toBase58()) : value;
}

/**
 * The row that an account has in the mirror, as PostgreSQL returns it, without what only events
 * show: the wallet, signatures, slots, payments.
 */
export function accountRow<Name extends AccountName>(
  account: Name,
  data: Accounts[Name],
): Record<string, Cell> {
  const row: Record<string, Cell> = {};
  for (const [name, { type, account: read, convert }] of columnsOf(account)) {
    const value = read?.(data as never);
    if (value === undefined) continue;
    const cell = value === null ? null : cellOf(value);
    const converted = convert ? convert(cell) : cell;
    const isWide = typeof converted === 'number' && type !== 'integer';
    row[name] = isWide ? BigInt(converted) : converted;
  }
  return row;
}

function columnsOf(account: AccountName): ReadonlyMap<string, Column> {
  const found = Object.values(MIRROR_TABLES).find((one) => one.account === account);
  if (found === undefined) throw new Error(`No table mirrors ${account}`);
  return found.columns;
}

/** The row of an account of zeros, with null where only events show a value. */
export function blankRow(name: TableName): Record<string, Cell> {
  const { account, columns } = MIRROR_TABLES[name];
  const zeros = new Uint8Array(accountSize(account) - DISCRIMINATOR_BYTES);
  const shown = accountRow(account, decodeStruct(account, zeros) as never);
  const row: Record<string, Cell> = {};
  for (const [column, { isNullable }] of columns) {
    const cell = shown[column] ?? (isNullable ? null : undefined);
    if (cell !== undefined) row[column] = cell;
  }
  return row;
}
