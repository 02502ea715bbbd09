import { base58 } from '@scure/base';
import type { Commitment, GetProgramAccountsFilter, PublicKey } from '@solana/web3.js';
import { PROGRAM_ID } from './addresses.ts';
import { ACCOUNT_KINDS, accountSize, DISCRIMINATOR_BYTES, decodeStruct } from './codec.ts';
import type * as types from './generated/types.ts';
import type { Gateway, Model, Worker } from './generated/types.ts';
import type { JobStatus } from './generated/vocabulary.ts';
import { areKeysEqual } from './keys.ts';
import type { LedgerConnection } from './ledgerConnection.ts';
import { startsWithBytes, viewOf } from './platform/bytes.ts';

/** The program's kinds of account, by their names in the IDL. */
export interface Accounts {
  Config: types.Config;
  Treasury: types.Treasury;
  Gateway: types.Gateway;
  CreditAccount: types.CreditAccount;
  Model: types.Model;
  Worker: types.Worker;
  Job: types.Job;
}

export type AccountName = keyof Accounts;

/** An account of any kind: `name` says which. */
export type DecodedAccount = {
  [Name in AccountName]: { name: Name; data: Accounts[Name] };
}[AccountName];

export interface ReadOptions {
  readonly commitment?: Commitment;
  /** The ledger's node refuses to answer from a state older than this slot. */
  readonly minContextSlot?: number;
  readonly programId?: PublicKey;
}

/** The layout that this client knows. */
export const ACCOUNT_VERSION = 3;
const VERSION_OFFSET = 8;

/**
 * Reads an account's bytes.
 *
 * @throws Error when they are no account of the program, or of a version this client cannot read
 */
export function decodeAccount(bytes: Uint8Array): DecodedAccount {
  const name = accountKind(bytes);
  if (name === undefined) throw new Error('Not an account of the escrow program');
  return { name, data: decode(name, bytes) } as DecodedAccount;
}

/** Which kind of account the bytes say they are; undefined for none of the program's. */
export function accountKind(bytes: Uint8Array): AccountName | undefined {
  const kind = ACCOUNT_KINDS.find(({ discriminator }) => startsWithBytes(bytes, discriminator));
  return kind?.name as AccountName | undefined;
}

function decode<Name extends AccountName>(name: Name, data: Uint8Array): Accounts[Name] {
  const version = data[VERSION_OFFSET];
  const kind = accountKind(data);
  if (kind !== name) {
    throw new Error(`Expected a ${name} of the escrow program, found ${kind ?? 'other data'}`);
  }
  if (version !== ACCOUNT_VERSION || data.length !== accountSize(name)) {
    throw new Error(`This client reads version ${ACCOUNT_VERSION} of ${name}, not ${version}`);
  }
  return decodeStruct(name, data.subarray(DISCRIMINATOR_BYTES)) as unknown as Accounts[Name];
}

/**
 * Whether an account of the program means nothing. Anybody can give an account of zeros to any
 * program, and then only the program can write into it. Ours writes only into accounts it has made.
 */
export function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}

/** Lets a node list the accounts of one kind only. */
export function accountFilter(name: AccountName): GetProgramAccountsFilter {
  const kind = ACCOUNT_KINDS.find((one) => one.name === name);
  if (kind === undefined) throw new Error(`The program has no account ${name}`);
  return { memcmp: { offset: 0, bytes: base58.encode(kind.discriminator) } };
}

function fetchOne<Name extends AccountName>(name: Name) {
  return async (
    connection: Pick<LedgerConnection, 'getAccountInfo' | 'getProgramAccounts'>,
    address: PublicKey,
    { programId = PROGRAM_ID, ...config }: ReadOptions = {},
  ): Promise<Accounts[Name] | null> => {
    const found = await connection.getAccountInfo(address, config);
    return found && areKeysEqual(found.owner, programId) ? decode(name, found.data) : null;
  };
}

function fetchAll<Name extends AccountName>(name: Name) {
  return async (
    connection: Pick<LedgerConnection, 'getAccountInfo' | 'getProgramAccounts'>,
    { programId = PROGRAM_ID, ...config }: ReadOptions = {},
  ): Promise<{ address: PublicKey; data: Accounts[Name] }[]> => {
    const filters = [accountFilter(name)];
    const found = await connection.getProgramAccounts(programId, { ...config, filters });
    return found.map(({ pubkey, account }) => ({
      address: pubkey,
      data: decode(name, account.data),
    }));
  };
}

/** The one Config, at `addresses.config`; null where there is none, not yet or no more. */
export const fetchConfig = fetchOne('Config');
/** The one Treasury, at `addresses.treasury`; null where there is none, not yet or no more. */
export const fetchTreasury = fetchOne('Treasury');
/** A Gateway; null where there is none, not yet or no more. */
export const fetchGateway = fetchOne('Gateway');
/** A wallet's credit account; null where there is none, not yet or no more. */
export const fetchCreditAccount = fetchOne('CreditAccount');
/** A model; null where there is none, not yet or no more. */
export const fetchModel = fetchOne('Model');
/** A worker; null where there is none, not yet or no more. */
export const fetchWorker = fetchOne('Worker');
/** A job; null where there is none, not yet or no more. */
export const fetchJob = fetchOne('Job');

/** Every Gateway, in no particular order. */
export const fetchAllGateways = fetchAll('Gateway');
/** Every credit account, in no particular order. */
export const fetchAllCreditAccounts = fetchAll('CreditAccount');
/** Every model, in no particular order. */
export const fetchAllModels = fetchAll('Model');
/** Every worker, in no particular order. */
export const fetchAllWorkers = fetchAll('Worker');
/** Every job that is not closed, in no particular order. */
export const fetchAllJobs = fetchAll('Job');

/** The printable parts of a Model, which the account keeps in zero-padded fields. */
export function modelText(model: Model): { id: string; label: string; originator: string } {
  return {
    id: text(model.id, model.idLen),
    label: text(model.label, model.labelLen),
    originator: text(model.originator, model.originatorLen),
  };
}

/** The address at which a worker takes jobs. */
export function workerEndpoint(worker: Worker): string {
  return text(worker.endpoint, worker.endpointLen);
}

/** The Model addresses that a worker declares to host. */
export function workerModels(worker: Worker): PublicKey[] {
  return worker.models.slice(0, worker.modelsLen);
}

/** Whether a job in this status has ended: its credits are no longer locked. */
export function isEnded(status: JobStatus): boolean {
  return status !== 'pending' && status !== 'processing' && status !== 'settling';
}

/** The keys that may act for a Gateway now. */
export function gatewaySigners(gateway: Gateway): PublicKey[] {
  return gateway.signers.slice(0, gateway.signersLen);
}

/** The program stores printable ASCII only. */
function text(bytes: Uint8Array, length: number): string {
  return Array.from(bytes.subarray(0, length), (byte) => String.fromCharCode(byte & 0x7f)).join('');
}

/** Behind slot, start of the epoch, epoch and the epoch of the next leaders' schedule. */
const UNIX_TIMESTAMP_OFFSET = 32;

/** The ledger's time in Unix seconds, as the account of its Clock (`SYSVAR_CLOCK_PUBKEY`) holds it. */
export function unixSecondsOf({ data }: { readonly data: Uint8Array }): bigint {
  return viewOf(data).getBigInt64(UNIX_TIMESTAMP_OFFSET, true);
}
