import { base58 } from '@scure/base';
import type { VersionedTransactionResponse } from '@solana/web3.js';
import type { PublicKey } from '#platform';
import { type Addresses, TOKEN_PROGRAM } from '../../addresses.ts';
import { accountPosition, decodeArguments, type Value } from '../../codec.ts';
import { type DecodedEvent, decodeEvents, type EventName, type Events } from '../../events.ts';
import type { Job, Model, Worker } from '../../generated/types.ts';
import { publicKeyOf } from '../../keys.ts';
import { viewOf } from '../../platform/bytes.ts';
import type { Place } from '../check.ts';
import { signedBytes } from '../connection/message.ts';

interface Instruction {
  readonly programId: string;
  readonly accounts: readonly string[];
  readonly data: Uint8Array;
}

interface OuterInstruction extends Instruction {
  /** What it called, and what those called, in the order of execution. */
  readonly inner: readonly Instruction[];
}

/** An account's lamports or tokens (base units) around a transaction. */
interface Change {
  readonly before: bigint;
  readonly after: bigint;
}

/** A successful transaction with everything that the ledger keeps of it. */
export interface LedgerTransaction extends Place {
  /** The bytes that were signed; undefined in a version whose bytes this client does not know. */
  readonly message: Uint8Array | undefined;
  /** Without `message`, only the node says who signed. */
  readonly signers: readonly PublicKey[];
  /** In the order of `signers`; the first one names the transaction. */
  readonly signatures: readonly Uint8Array[];
  readonly instructions: readonly OuterInstruction[];
  /** By address, without token accounts, which are in `tokens`. */
  readonly lamports: ReadonlyMap<string, Change>;
  readonly tokens: ReadonlyMap<string, Change>;
  readonly feeLamports: bigint;
  readonly events: readonly DecodedEvent[];
  /** Its position in the block of its slot; undefined where the node does not say. */
  readonly index: number | undefined;
}

/**
 * Brings a node's answer into one form for all versions of transactions.
 *
 * @throws Error when the program emitted an event that this client cannot read
 */
export function readTransaction(
  signature: string,
  response: VersionedTransactionResponse,
  programId: PublicKey,
): LedgerTransaction {
  const { message, signatures } = response.transaction;
  const meta = response.meta;
  if (!meta) throw new Error('The node has no metadata of this transaction');
  const keys = message
    .getAccountKeys({ accountKeysFromLookups: meta.loadedAddresses ?? null })
    .keySegments()
    .flat();
  const addresses = keys.map(String);
  const address = (index: number) => addresses[index] ?? '';
  const inner = new Map(meta.innerInstructions?.map((item) => [item.index, item.instructions]));
  // web3.js 3 puts what it does not know into the form of a legacy message.
  const isOfItsForm = (response.version ?? message.version) === message.version;
  const bytes = isOfItsForm ? signedBytes(message) : undefined;
  const signerCount = bytes ? message.header.numRequiredSignatures : signatures.length;
  // What a version that is not known says itself may be missing: what it called is there.
  const count = Math.max(message.compiledInstructions.length, ...[...inner.keys()].map(next));
  return {
    signature,
    slot: BigInt(response.slot),
    message: bytes,
    signers: addresses.slice(0, signerCount).map(publicKeyOf),
    signatures: signatures.map((text) => base58.decode(text)),
    instructions: Array.from({ length: count }, (_, index) => {
      const outer = message.compiledInstructions[index];
      return {
        programId: outer ? address(outer.programIdIndex) : '',
        accounts: (outer?.accountKeyIndexes ?? []).map(address),
        data: outer?.data ?? new Uint8Array(),
        inner: (inner.get(index) ?? []).map((called) => ({
          programId: address(called.programIdIndex),
          accounts: called.accounts.map(address),
          data: base58.decode(called.data),
        })),
      };
    }),
    lamports: new Map(
      addresses.map((key, index) => [
        key,
        {
          before: BigInt(meta.preBalances[index] ?? 0),
          after: BigInt(meta.postBalances[index] ?? 0),
        },
      ]),
    ),
    tokens: readTokens(meta, address),
    feeLamports: BigInt(meta.fee),
    events: decodeEvents(response, programId),
    // Nodes say it since version 4, and web3.js passes it on.
    index:
      (response as { readonly transactionIndex?: number | null }).transactionIndex ?? undefined,
  };
}

const next = (index: number): number => index + 1;

/** A token account that a transaction opens or closes is listed on one side only. */
function readTokens(
  meta: NonNullable<VersionedTransactionResponse['meta']>,
  address: (index: number) => string,
): Map<string, Change> {
  const amounts = (side: typeof meta.preTokenBalances) =>
    new Map(side?.map((held) => [address(held.accountIndex), BigInt(held.uiTokenAmount.amount)]));
  const before = amounts(meta.preTokenBalances);
  const after = amounts(meta.postTokenBalances);
  return new Map(
    [...before.keys(), ...after.keys()].map((key) => [
      key,
      { before: before.get(key) ?? 0n, after: after.get(key) ?? 0n },
    ]),
  );
}

/** An event with the transaction in which the program emitted it. */
export type PlacedEvent<Name extends EventName = EventName> = {
  [One in Name]: {
    readonly name: One;
    readonly data: Events[One];
    /** The top-level instruction's position in its transaction. */
    readonly instructionIndex: number;
    /** The position among that instruction's inner instructions. */
    readonly innerIndex: number;
    readonly transaction: LedgerTransaction;
  };
}[Name];

/** A transaction that the node lists but does not show, or that this client cannot read. */
export interface Unread {
  readonly signature: string;
  /** A sentence without its full stop. */
  readonly reason: string;
}

/** The account at a job's address now. */
export type JobAccount =
  | { readonly kind: 'job'; readonly data: Job }
  /** No account, or only lamports that were sent to the address. */
  | { readonly kind: 'none' }
  | { readonly kind: 'foreign'; readonly owner: PublicKey }
  | { readonly kind: 'unreadable'; readonly reason: string };

/** How the ledger recorded a worker's keys. */
export interface WorkerEvidence {
  /** Around the job, oldest first. */
  readonly records: readonly PlacedEvent<'WorkerRegistered' | 'WorkerUpdated'>[];
  /** Whether one of them may be missing: a transaction is listed, and could not be read. */
  readonly hasGaps: boolean;
  /** What the Worker account says now; undefined where none was looked for, or found. */
  readonly account: Worker | undefined;
}

/** How the ledger recorded a job's model. */
export interface ModelEvidence {
  /** Its last changes, in any order. */
  readonly records: readonly PlacedEvent<'ModelUpserted' | 'ModelRetired'>[];
  /** What the Model account says now. */
  readonly account: Pick<Model, 'sequence' | 'cardHash' | 'contextWindowTokens'>;
}

/** Everything that was asked of the ledger about one job. Nothing in it has been judged yet. */
export interface Evidence {
  readonly addresses: Addresses;
  readonly job: PublicKey;
  readonly account: JobAccount;
  /** The slot of the state in which the node showed the account. Later changes are not known. */
  readonly slot: bigint;
  /** Those of the job, oldest first; failed ones left out, since they changed nothing. */
  readonly transactions: readonly LedgerTransaction[];
  readonly unread: readonly Unread[];
  /** Events of the wallet's credit account: the job's own, and those that came right before. */
  readonly creditEvents: readonly PlacedEvent[];
  readonly worker: WorkerEvidence;
  /** Only `gatherModel` asks for it. */
  readonly model?: ModelEvidence;
  /** The ledger's Clock when this was gathered, in Unix seconds. */
  readonly now: bigint;
}

export function placeEvents(transaction: LedgerTransaction): PlacedEvent[] {
  return transaction.events.map((event) => ({ ...event, transaction }) as PlacedEvent);
}

/**
 * How the ledger recorded a worker's keys at a transaction: by the last record before it, and by those
 * in its slot. Not every node gives the order within a slot, so each of them may count.
 *
 * @returns nothing when no record from before is known
 */
export function workersInForce(
  { worker: { records }, addresses }: Evidence,
  { worker, at }: { worker: PublicKey; at: Pick<LedgerTransaction, 'slot' | 'index'> },
): PlacedEvent<'WorkerRegistered' | 'WorkerUpdated'>[] {
  const own = records.filter(
    ({ data }) => data.worker.equals(worker) && addresses.worker(data.authority).equals(worker),
  );
  const before = own.findLast(({ transaction }) => isBefore(transaction, at));
  const during = own.filter(
    ({ transaction: one }) => one.slot === at.slot && !isBefore(one, at) && !isBefore(at, one),
  );
  if (before) return [before, ...during];
  return during.some(({ name }) => name === 'WorkerRegistered') ? during : [];
}

/** @returns false in one slot, too, where the node does not say its order */
export function isBefore(
  one: Pick<LedgerTransaction, 'slot' | 'index'>,
  other: typeof one,
): boolean {
  if (one.slot !== other.slot) return one.slot < other.slot;
  return one.index !== undefined && other.index !== undefined && one.index < other.index;
}

/** The instructions whose arguments rules look at. Each names its job. */
export type CallName =
  | 'job_lock'
  | 'job_acknowledge'
  | 'job_prove'
  | 'job_settle'
  | 'job_complete'
  | 'job_fail'
  | 'job_dispute'
  | 'dispute_resolve';

/** What an instruction asked for. */
export interface AskedCall {
  /** Its arguments. */
  readonly values: Record<string, Value>;
  /** The address of an account by its name. */
  readonly account: (name: string) => string;
}

/**
 * The call that emitted an event: the last one about its job before it, at the top level or below. A
 * transaction may have such calls about many jobs, by other programs too.
 *
 * @param names of the instructions that emit such an event
 * @returns undefined where no such call is shown
 */
export function callOf(
  event: PlacedEvent & { readonly data: { readonly job: PublicKey } },
  names: readonly CallName[],
  programId: PublicKey,
): AskedCall | undefined {
  const { transaction, instructionIndex, innerIndex } = event;
  const outer = transaction.instructions[instructionIndex];
  const calls = outer ? [outer, ...outer.inner.slice(0, innerIndex)] : [];
  for (const call of calls.toReversed()) {
    if (call.programId !== programId.toBase58()) continue;
    for (const name of names) {
      if (call.accounts[accountPosition(name, 'job')] !== event.data.job.toBase58()) continue;
      const values = readArguments(name, call.data);
      const account = (named: string) => call.accounts[accountPosition(name, named)] ?? '';
      if (values) return { values, account };
    }
  }
  return undefined;
}

/** Undefined for another instruction's data, and for bytes that the program refuses. */
function readArguments(name: CallName, data: Uint8Array): Record<string, Value> | undefined {
  try {
    return decodeArguments(name, data);
  } catch {
    return undefined;
  }
}

/** Tokens that the SPL Token program moved. */
export interface Transfer {
  readonly from: string;
  readonly to: string;
  readonly baseUnits: bigint;
}

/** Transfers made by the instruction that emitted an event, before it emitted it. */
export function transfersOf(event: PlacedEvent): Transfer[] {
  const { transaction, instructionIndex, innerIndex } = event;
  const previous = transaction.events.findLast(
    (other) => other.instructionIndex === instructionIndex && other.innerIndex < innerIndex,
  );
  const calls = transaction.instructions[instructionIndex]?.inner ?? [];
  return readTransfers(calls.slice((previous?.innerIndex ?? -1) + 1, innerIndex));
}

/** Every transfer in a transaction, by any program. */
export function allTransfers({ instructions }: LedgerTransaction): Transfer[] {
  return instructions.flatMap((outer) => readTransfers([outer, ...outer.inner]));
}

/** The token program's instructions, by the first byte of their data. */
const TRANSFER = 3;
const TRANSFER_CHECKED = 12;

function readTransfers(instructions: readonly Instruction[]): Transfer[] {
  return instructions.flatMap(({ programId, accounts, data }) => {
    if (programId !== TOKEN_PROGRAM.toBase58()) return [];
    const isChecked = data[0] === TRANSFER_CHECKED;
    if (!isChecked && data[0] !== TRANSFER) return [];
    const [from = '', to = ''] = isChecked ? [accounts[0], accounts[2]] : accounts;
    return [{ from, to, baseUnits: viewOf(data).getBigUint64(1, true) }];
  });
}
