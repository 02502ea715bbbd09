import { base58 } from '@scure/base';
import type { LedgerConnection } from '../../../programs/client/ledgerConnection.ts';
import { RpcError } from '../../../programs/client/rpc/rpc.ts';
import { connectLedger } from '../../../programs/client/verify/connection/connectLedger.ts';
import {
  createMessage,
  type MessageJson,
  signedBytes,
} from '../../../programs/client/verify/connection/message.ts';
import { CLOCK } from '../../../programs/client/verify/ledgerState.ts';
import {
  decodeMessage,
  decodeTransaction,
  VERSION_FLAG,
} from '../../../programs/client/wire/index.ts';

/** `getTransaction` in base64, with as much of its meta as a verification reads. */
export interface SnapshotTransaction {
  readonly slot: number;
  readonly version: 'legacy' | number;
  readonly transaction: readonly [base64: string, encoding: 'base64'];
  readonly meta: object | null;
  /** Its position in the block. */
  readonly transactionIndex?: number | undefined;
}

export interface SnapshotAccount {
  readonly data: readonly [base64: string, encoding: 'base64'];
  readonly executable: boolean;
  readonly lamports: number;
  readonly owner: string;
}

/** Of `getSignaturesForAddress`, newest first. */
export interface SnapshotListed {
  readonly signature: string;
  readonly slot: number;
  readonly err: unknown;
}

/** What one node answers, as of one moment. What is not in it is not there. */
export interface LedgerSnapshot {
  readonly slot: number;
  /** The ledger's Clock, in seconds. */
  readonly unix_time: number;
  readonly transactions: Readonly<Record<string, SnapshotTransaction | null>>;
  readonly accounts: Readonly<Record<string, SnapshotAccount | null>>;
  readonly signatures: Readonly<Record<string, readonly SnapshotListed[]>>;
  /** The most entries of a list in one answer, where that is less than was asked for. */
  readonly page?: number;
}

/** A shared snapshot's entries that a node has otherwise. */
export type SnapshotChanges = Partial<LedgerSnapshot>;

export function withChanges(node: LedgerSnapshot, changes: SnapshotChanges = {}): LedgerSnapshot {
  return {
    ...node,
    ...changes,
    transactions: { ...node.transactions, ...changes.transactions },
    accounts: { ...node.accounts, ...changes.accounts },
    signatures: { ...node.signatures, ...changes.signatures },
  };
}

/** A node that answers from a snapshot. */
export function connectSnapshot(node: LedgerSnapshot): LedgerConnection {
  return connectLedger({
    ask: async (method, parameters, read) => read(answerFrom(node, method, parameters)),
  });
}

export function answerFrom(
  node: LedgerSnapshot,
  method: string,
  parameters: readonly unknown[],
): unknown {
  const [subject, options] = parameters as [string, Record<string, never>];
  const context = { slot: node.slot };
  switch (method) {
    case 'getTransaction':
      return shownTransaction(node.transactions[subject] ?? null, options);
    case 'getAccountInfo':
      return { context, value: accountOf(node, subject) };
    case 'getSignaturesForAddress':
      return listed(node.signatures[subject] ?? [], { page: node.page, ...options });
    default:
      throw new Error(`A snapshot does not answer ${method}`);
  }
}

function accountOf(node: LedgerSnapshot, address: string): SnapshotAccount | null {
  if (address !== CLOCK.toBase58()) return node.accounts[address] ?? null;
  const data = Buffer.alloc(40);
  data.writeBigInt64LE(BigInt(node.unix_time), 32);
  const owner = 'Sysvar1111111111111111111111111111111111111';
  return { data: [data.toString('base64'), 'base64'], executable: false, lamports: 1, owner };
}

interface ListOptions {
  readonly before?: string;
  readonly limit?: number;
  readonly page: number | undefined;
}

function listed(
  all: readonly SnapshotListed[],
  { before, limit = 1_000, page = limit }: ListOptions,
): readonly SnapshotListed[] {
  const start = before ? all.findIndex(({ signature }) => signature === before) + 1 : 0;
  return all.slice(start, start + Math.min(limit, page));
}

/** The words of a node to a reader of older versions. */
const TOO_NEW = { code: -32_015, data: undefined };

function shownTransaction(
  found: SnapshotTransaction | null,
  { maxSupportedTransactionVersion: max = -1 }: { maxSupportedTransactionVersion?: number },
): unknown {
  if (!found) return null;
  const version = found.version ?? 'legacy';
  const isKnown = version === 'legacy' || version === 0 || version === 1;
  if (version !== 'legacy' && (version > max || !isKnown)) {
    throw new RpcError(`Transaction version (${version}) is not supported`, TOO_NEW);
  }
  return jsonTransaction(found);
}

/** A transaction as a node's JSON has it. */
export const jsonTransaction = ({
  transaction,
  ...rest
}: SnapshotTransaction): JsonTransaction => ({
  ...rest,
  meta: rest.meta as JsonMeta | null,
  transaction: jsonOf(Buffer.from(transaction[0], 'base64')),
});

/** Signatures and message; a node may show more or fewer signatures than the message wants. */
function partsOf(wire: Uint8Array) {
  const [count = 0] = wire;
  if (count >= VERSION_FLAG) return decodeTransaction(wire);
  const end = 1 + 64 * count;
  const signatures = Array.from({ length: count }, (_, at) =>
    wire.subarray(1 + 64 * at, 65 + 64 * at),
  );
  return { signatures, ...decodeMessage(wire.subarray(end)) };
}

/** The transaction as a node's JSON has it. */
function jsonOf(wire: Uint8Array) {
  const { signatures, header, keys, recentBlockhash, instructions, lookups, config } =
    partsOf(wire);
  const { priorityFeeLamports, computeUnitLimit, loadedAccountsDataSizeLimit, heapSize } = config;
  return {
    signatures: signatures.map((bytes) => base58.encode(bytes)),
    message: {
      header,
      accountKeys: keys.map((key) => base58.encode(key)),
      recentBlockhash: base58.encode(recentBlockhash),
      instructions: instructions.map(({ programIdIndex, accounts, data }) => ({
        programIdIndex,
        accounts: [...accounts],
        data: base58.encode(data),
      })),
      addressTableLookups: lookups.map(({ table, writableIndexes, readonlyIndexes }) => ({
        accountKey: base58.encode(table),
        writableIndexes: [...writableIndexes],
        readonlyIndexes: [...readonlyIndexes],
      })),
      transactionConfig: {
        priorityFee: priorityFeeLamports === undefined ? null : Number(priorityFeeLamports),
        computeUnitLimit: computeUnitLimit ?? null,
        loadedAccountsDataSizeLimit: loadedAccountsDataSizeLimit ?? null,
        heapSize: heapSize ?? null,
      },
    },
  };
}

interface JsonTransaction {
  readonly slot: number;
  readonly version?: 'legacy' | number;
  readonly transactionIndex?: number | undefined;
  readonly transaction: { readonly signatures: readonly string[]; readonly message: MessageJson };
  readonly meta: JsonMeta | null;
}

/** The same transaction in base64, whose node's JSON somebody may have changed. */
export function snapshotTransaction(found: JsonTransaction): SnapshotTransaction {
  const { slot, version = 'legacy', transaction, meta, transactionIndex } = found;
  return {
    slot,
    version,
    transaction: [Buffer.from(wireOf(transaction, version)).toString('base64'), 'base64'],
    meta: meta && keptMeta(meta),
    ...(transactionIndex !== undefined && { transactionIndex }),
  };
}

function wireOf(
  { signatures, message }: JsonTransaction['transaction'],
  version: 'legacy' | number,
): Uint8Array {
  const isKnown = version === 'legacy' || version <= 1;
  const form = isKnown ? version : 0;
  const bytes = signedBytes(
    createMessage(message, form) as Parameters<typeof signedBytes>[0],
  ) as Uint8Array;
  if (!isKnown) bytes[0] = VERSION_FLAG | version;
  const signed = signatures.map((text) => base58.decode(text));
  return Buffer.concat(
    form === 1 ? [bytes, ...signed] : [Uint8Array.of(signed.length), ...signed, bytes],
  );
}

interface JsonMeta {
  readonly err: unknown;
  readonly fee: number;
  readonly innerInstructions: readonly { index: number; instructions: readonly object[] }[];
  readonly preBalances: readonly number[];
  readonly postBalances: readonly number[];
  readonly preTokenBalances: readonly TokenBalance[];
  readonly postTokenBalances: readonly TokenBalance[];
  readonly loadedAddresses?: object;
}

interface TokenBalance {
  readonly accountIndex: number;
  readonly mint: string;
  readonly uiTokenAmount: { readonly amount: string };
}

const keptBalance = ({ accountIndex, mint, uiTokenAmount: { amount } }: TokenBalance) => ({
  ...{ accountIndex, mint, uiTokenAmount: { amount } },
});

function keptMeta(meta: JsonMeta): object {
  const { err, fee, preBalances, postBalances, loadedAddresses } = meta;
  return {
    ...{ err, fee },
    innerInstructions: meta.innerInstructions.map(({ index, instructions }) => ({
      ...{ index, instructions: instructions.map(keptCall) },
    })),
    ...{ preBalances, postBalances },
    preTokenBalances: meta.preTokenBalances.map(keptBalance),
    postTokenBalances: meta.postTokenBalances.map(keptBalance),
    ...(loadedAddresses && { loadedAddresses }),
  };
}

function keptCall(call: object): object {
  const { programIdIndex, accounts, data } = call as Record<string, unknown>;
  return { programIdIndex, accounts, data };
}
