import { decodeBase64 } from '#platform';
import type { LedgerNode, RpcError } from './rpc.ts';

// Answers are read as far as they are used. What has another form is a TypeError.

type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): Fields {
  if (typeof value === 'object' && value !== null) return value as Fields;
  throw new TypeError('Expected an object');
}

function listOf<Item>(value: unknown, read: (item: unknown) => Item): Item[] {
  if (Array.isArray(value)) return value.map(read);
  throw new TypeError('Expected a list');
}

export function numberOf(value: unknown): number {
  if (typeof value === 'number') return value;
  throw new TypeError('Expected a number');
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new TypeError('Expected a string');
}

/** An answer, and the slot of the state that it is about. */
export interface AtSlot<Value> {
  readonly slot: number;
  readonly value: Value;
}

function atSlot<Value>(read: (value: unknown) => Value) {
  return (result: unknown): AtSlot<Value> => {
    const { context, value } = fieldsOf(result);
    return { slot: numberOf(fieldsOf(context).slot), value: read(value) };
  };
}

function orNull<Value>(read: (value: unknown) => Value) {
  return (value: unknown): Value | null => (value === null ? null : read(value));
}

/** How certain a state of the ledger is. */
export type Commitment = 'processed' | 'confirmed' | 'finalized';

export interface Account {
  readonly lamports: number;
  /** The address of the program that may write it. */
  readonly owner: string;
  readonly data: Uint8Array;
  readonly executable: boolean;
}

interface AccountOptions {
  readonly commitment: Commitment;
  /** The node refuses to answer from a state older than this slot. */
  readonly minContextSlot?: number;
  /** The part of each account's bytes to return. */
  readonly dataSlice?: { readonly offset: number; readonly length: number };
}

/** An account; null where there is none. */
export function getAccountInfo(
  rpc: LedgerNode,
  address: string,
  options: AccountOptions,
): Promise<AtSlot<Account | null>> {
  return rpc.ask('getAccountInfo', [address, inBase64(options)], atSlot(orNull(accountOf)));
}

/** The lamports of an account; 0 where there is none. */
export async function getBalance(
  rpc: LedgerNode,
  address: string,
  options: { readonly commitment: Commitment },
): Promise<number> {
  const { value } = await rpc.ask('getBalance', [address, options], atSlot(numberOf));
  return value;
}

/** Up to 100 accounts of one state, in the order of their addresses. */
export function getMultipleAccounts(
  rpc: LedgerNode,
  addresses: readonly string[],
  options: AccountOptions,
): Promise<AtSlot<(Account | null)[]>> {
  const read = atSlot((value) => listOf(value, orNull(accountOf)));
  return rpc.ask('getMultipleAccounts', [addresses, inBase64(options)], read);
}

/** Every account of a program that passes the filters, in no particular order. */
export function getProgramAccounts(
  rpc: LedgerNode,
  programId: string,
  options: AccountOptions & { readonly filters?: readonly object[] },
): Promise<AtSlot<{ address: string; account: Account }[]>> {
  const read = atSlot((value) =>
    listOf(value, (item) => {
      const { pubkey, account } = fieldsOf(item);
      return { address: textOf(pubkey), account: accountOf(account) };
    }),
  );
  return rpc.ask(
    'getProgramAccounts',
    [programId, { ...inBase64(options), withContext: true }],
    read,
  );
}

const inBase64 = <Options extends object>(options: Options) => ({ encoding: 'base64', ...options });

function accountOf(value: unknown): Account {
  const { lamports, owner, data, executable } = fieldsOf(value);
  const [text] = listOf(data, textOf);
  return {
    lamports: numberOf(lamports),
    owner: textOf(owner),
    data: decodeBase64(textOf(text)),
    executable: executable === true,
  };
}

/** The lamports that an account of this size must hold, to be free of rent. */
export function getMinimumBalanceForRentExemption(rpc: LedgerNode, bytes: number): Promise<number> {
  return rpc.ask('getMinimumBalanceForRentExemption', [bytes], numberOf);
}

/** The newest slot of that commitment. */
export function getSlot(
  rpc: LedgerNode,
  options: { readonly commitment: Commitment; readonly minContextSlot?: number },
): Promise<number> {
  return rpc.ask('getSlot', [options], numberOf);
}

/** How many blocks there are, and the slot of the newest, of one state. */
export function getBlockHeight(
  rpc: LedgerNode,
  options: { readonly commitment: Commitment },
): Promise<{ height: number; slot: number }> {
  // `getBlockHeight` returns no slot.
  return rpc.ask('getEpochInfo', [options], (result) => {
    const { blockHeight, absoluteSlot } = fieldsOf(result);
    return { height: numberOf(blockHeight), slot: numberOf(absoluteSlot) };
  });
}

/**
 * The slot with which a ledger went over to Alpenglow; null before it has.
 *
 * @throws RpcError by a node that does not know the question, as all did before Agave 4.3
 */
export function getAlpenglowSlot(rpc: LedgerNode): Promise<number | null> {
  const slotOf = (certificate: unknown): number =>
    numberOf(fieldsOf(fieldsOf(certificate).block).slot);
  return rpc.ask('getAgGenesisCert', [], orNull(slotOf));
}

/** How long a slot took lately, in seconds; undefined where the node does not know. */
export function getSlotSeconds(rpc: LedgerNode): Promise<number | undefined> {
  return rpc.ask('getRecentPerformanceSamples', [1], (result) => {
    const [seconds] = listOf(result, (sample) => {
      const { samplePeriodSecs, numSlots } = fieldsOf(sample);
      return numberOf(samplePeriodSecs) / numberOf(numSlots);
    });
    return seconds;
  });
}

/** The hash that identifies this ledger. */
export function getGenesisHash(rpc: LedgerNode): Promise<string> {
  return rpc.ask('getGenesisHash', [], textOf);
}

/**
 * What transactions that write these accounts paid lately, one number for each of up to 150 blocks.
 *
 * @returns micro-lamports per compute unit
 */
export function getRecentPrioritizationFees(
  rpc: LedgerNode,
  writableAccounts: readonly string[],
): Promise<number[]> {
  return rpc.ask('getRecentPrioritizationFees', [writableAccounts], (result) =>
    listOf(result, (row) => numberOf(fieldsOf(row).prioritizationFee)),
  );
}

/** The ledger's reason for a failure, in a status, a receipt or a refusal. */
export type TransactionError = object | string;

/** The status of a transaction. */
export interface SignatureStatus {
  readonly slot: number;
  readonly err: TransactionError | null;
  readonly confirmationStatus: Commitment | undefined;
}

/** A transaction in the list of an address. */
interface ListedSignature {
  readonly signature: string;
  readonly slot: number;
  readonly err: TransactionError | null;
  /** In Unix seconds; a node may not know it. */
  readonly blockTime: number | null;
}

/** A node refused to pass on a transaction, having checked it. */
const PREFLIGHT_FAILURE = -32002;

/**
 * Passes a transaction on, once. Repeating it is up to the sender.
 *
 * @param wire the signed transaction in base64
 * @param options.minContextSlot the state that checks it is of this slot or later
 * @returns its signature
 * @throws RpcError where the check fails, see `preflightErrorOf`
 */
export function sendTransaction(
  rpc: LedgerNode,
  wire: string,
  options:
    | { readonly skipPreflight: true }
    | { readonly preflightCommitment: Commitment; readonly minContextSlot: number },
): Promise<string> {
  return rpc.ask(
    'sendTransaction',
    [wire, { ...options, encoding: 'base64', maxRetries: 0 }],
    textOf,
  );
}

interface Simulation {
  /** Why the transaction would fail; null where it would not. */
  readonly err: TransactionError | null;
  readonly logs: readonly string[];
  /** The bytes that the accounts asked for would have; null for one that would not be there. */
  readonly accounts: readonly (Uint8Array | null)[];
}

/**
 * What a transaction would do at present. Signatures are not checked, so that none is needed yet.
 *
 * @param wire in base64
 * @param options.accounts addresses of accounts to show as the transaction would leave them
 */
export async function simulateTransaction(
  rpc: LedgerNode,
  wire: string,
  options: { readonly commitment: Commitment; readonly accounts: readonly string[] },
): Promise<Simulation> {
  const { commitment, accounts: addresses } = options;
  const config = { commitment, encoding: 'base64', accounts: { encoding: 'base64', addresses } };
  const { value } = await rpc.ask(
    'simulateTransaction',
    [wire, { ...config, sigVerify: false, replaceRecentBlockhash: true }],
    atSlot(simulationOf),
  );
  return value;
}

function simulationOf(value: unknown): Simulation {
  const { err, logs, accounts } = fieldsOf(value);
  return {
    err: errorOf(err),
    logs: listOf(logs ?? [], textOf),
    accounts: listOf(
      accounts ?? [],
      orNull((account) => accountOf(account).data),
    ),
  };
}

/** Why a node's check refused a transaction; undefined for any other refusal. */
export function preflightErrorOf({ code, data }: RpcError): TransactionError | undefined {
  if (code !== PREFLIGHT_FAILURE || typeof data !== 'object' || data === null) return undefined;
  return errorOf((data as { err?: unknown }).err) ?? undefined;
}

/** The most signatures that a node takes in one question. */
const STATUSES_MAX = 256;

/**
 * Statuses in the order of the signatures; null for what was not seen. Where several nodes answer for
 * a part each, the slot is that of the one which has come least far.
 */
export async function getSignatureStatuses(
  rpc: LedgerNode,
  signatures: readonly string[],
  options: { readonly searchTransactionHistory: boolean },
): Promise<AtSlot<(SignatureStatus | null)[]>> {
  const read = atSlot((value) => listOf(value, orNull(statusOf)));
  const questions = [];
  let from = 0;
  // Without signatures, the node still returns its slot.
  do {
    const part = signatures.slice(from, from + STATUSES_MAX);
    questions.push(rpc.ask('getSignatureStatuses', [part, options], read));
    from += STATUSES_MAX;
  } while (from < signatures.length);
  const answers = await Promise.all(questions);
  return {
    slot: Math.min(...answers.map(({ slot }) => slot)),
    value: answers.flatMap(({ value }) => value),
  };
}

export function getLatestBlockhash(
  rpc: LedgerNode,
  options: { readonly commitment: Commitment },
): Promise<AtSlot<{ blockhash: string; lastValidBlockHeight: number }>> {
  const read = atSlot((value) => {
    const { blockhash, lastValidBlockHeight } = fieldsOf(value);
    return { blockhash: textOf(blockhash), lastValidBlockHeight: numberOf(lastValidBlockHeight) };
  });
  return rpc.ask('getLatestBlockhash', [options], read);
}

/**
 * Up to 1,000 transactions that name the address, newest first. Since version 4, nodes list those of
 * one slot in the order of its block; before, in any order.
 */
export function getSignaturesForAddress(
  rpc: LedgerNode,
  address: string,
  options: {
    readonly commitment: Exclude<Commitment, 'processed'>;
    readonly limit?: number;
    readonly before?: string;
    readonly minContextSlot?: number;
  },
): Promise<ListedSignature[]> {
  const read = (result: unknown) =>
    listOf(result, (row) => {
      const { signature, slot, err, blockTime, transactionIndex } = fieldsOf(row);
      const listed = {
        ...{ signature: textOf(signature), slot: numberOf(slot), err: errorOf(err) },
        blockTime: typeof blockTime === 'number' ? blockTime : null,
      };
      return { listed, index: numberOf(transactionIndex ?? 0) };
    })
      .sort((one, other) => (one.listed.slot === other.listed.slot ? other.index - one.index : 0))
      .map(({ listed }) => listed);
  return rpc.ask('getSignaturesForAddress', [address, options], read);
}

/** A transaction in the node's own words, of any version up to the one given; null where unknown. */
export function getTransaction(
  rpc: LedgerNode,
  signature: string,
  options: {
    readonly commitment: Exclude<Commitment, 'processed'>;
    readonly maxSupportedTransactionVersion: number;
  },
): Promise<object | null> {
  return rpc.ask('getTransaction', [signature, { encoding: 'json', ...options }], orNull(fieldsOf));
}

function statusOf(value: unknown): SignatureStatus {
  const { slot, err, confirmationStatus } = fieldsOf(value);
  return {
    slot: numberOf(slot),
    err: errorOf(err),
    confirmationStatus: (confirmationStatus ?? undefined) as Commitment | undefined,
  };
}

export function errorOf(err: unknown): TransactionError | null {
  if (err === null || err === undefined) return null;
  return typeof err === 'object' ? err : textOf(err);
}
