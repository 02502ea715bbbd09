import type { PublicKey } from '@solana/web3.js';
import { decodeAccount } from '../../accounts.ts';
import type { Addresses } from '../../addresses.ts';
import { SYSTEM_PROGRAM } from '../../addresses.ts';
import { areKeysEqual } from '../../keys.ts';
import type { LedgerConnection } from '../../ledgerConnection.ts';
import { VERSION_MAX } from '../../wire/index.ts';
import { UnknownFormError } from '../connection/message.ts';
import { COMMITMENT } from '../ledgerState.ts';
import {
  type JobAccount,
  type LedgerTransaction,
  readTransaction,
  type Unread,
} from './evidence.ts';

/** The most that a node lists at once. */
const PAGE = 1_000;

type ReadResult = { readonly transaction: LedgerTransaction } | { readonly unread: Unread };

/** A successful transaction, as a node lists it. */
interface Listed {
  readonly signature: string;
  readonly slot: bigint;
  /** In Unix seconds; undefined where the node does not know it. */
  readonly blockTime: number | undefined;
}

/** So many are read at once, and kept, when the first few did not suffice. */
export const READS_AT_ONCE = 8;

export type LedgerReader = ReturnType<typeof createLedgerReader>;

export function createLedgerReader(connection: LedgerConnection, programId: PublicKey) {
  /** Nothing that is read is kept here: anybody can mention an address, any number of times. */
  const read = (signature: string) => readOne(connection, programId, signature);
  return {
    read,
    /**
     * Reads what mentioned an address, newest first, for as long as the caller asks on.
     *
     * @param range.before begins behind this transaction
     * @param range.slotMax passes over what came after this slot, without reading it
     */
    async *history(
      address: PublicKey,
      range: { before?: string; slotMax?: bigint } = {},
    ): AsyncGenerator<ReadResult> {
      // Almost always the very next one suffices, so the first is read alone.
      let batchSize = 1;
      let batch: string[] = [];
      for await (const { signature, slot } of listSuccessful(connection, address, range.before)) {
        if (range.slotMax !== undefined && slot > range.slotMax) continue;
        batch.push(signature);
        if (batch.length < batchSize) continue;
        yield* await Promise.all(batch.map(read));
        batchSize = Math.min(2 * batchSize, READS_AT_ONCE);
        batch = [];
      }
      yield* await Promise.all(batch.map(read));
    },
  };
}

/**
 * Lists what mentioned an address, newest first, without what failed, since that changed nothing.
 *
 * @param start begins behind this transaction
 */
export async function* listSuccessful(
  connection: LedgerConnection,
  address: PublicKey,
  start?: string,
): AsyncGenerator<Listed> {
  let before = start;
  // No more than a page is remembered, since a history may have any length.
  let first: ReadonlySet<string> | undefined;
  for (;;) {
    const options = { limit: PAGE, ...(before && { before }) };
    const page = await connection.getSignaturesForAddress(address, options, COMMITMENT);
    for (const { signature, slot, err, blockTime } of page) {
      // A node that does not know `before` begins at the newest again, without an end.
      if (first?.has(signature)) throw new Error(`it lists ${signature} twice`);
      if (err !== null) continue;
      yield { signature, slot: BigInt(slot), blockTime: blockTime ?? undefined };
    }
    first ??= new Set(page.map(({ signature }) => signature));
    // A short page is not trusted to be the last one: rows can be missing from it.
    before = page.at(-1)?.signature;
    if (before === undefined) return;
  }
}

/** How JSON-RPC says that a transaction is of a newer version than the caller reads. */
const UNSUPPORTED_TRANSACTION_VERSION = -32_015;

function isOfUnknownVersion(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof UnknownFormError) return true;
  const isRefused = 'code' in error && error.code === UNSUPPORTED_TRANSACTION_VERSION;
  // So web3.js 1 ends an answer of another version than it knows.
  return isRefused || error.name === 'StructError';
}

async function readOne(
  connection: LedgerConnection,
  programId: PublicKey,
  signature: string,
): Promise<ReadResult> {
  const unread = (reason: string) => ({ unread: { signature, reason } });
  try {
    const response = await connection.getTransaction(signature, {
      commitment: COMMITMENT,
      maxSupportedTransactionVersion: VERSION_MAX,
    });
    if (!response?.meta) return unread('The node lists a transaction and does not show it');
    return { transaction: readTransaction(signature, response, programId) };
  } catch (error) {
    // Anybody can mention a job in a transaction of a newer version.
    if (!isOfUnknownVersion(error)) throw error;
    return unread('A transaction is of a version that this client does not read');
  }
}

/** What lies at a job's address, and the slot as of which the node says so. */
export async function readJobAccount(options: {
  connection: LedgerConnection;
  addresses: Addresses;
  job: PublicKey;
}): Promise<{ account: JobAccount; slot: bigint }> {
  const { connection, addresses, job } = options;
  const { context, value } = await connection.getAccountInfoAndContext(job, COMMITMENT);
  return { account: judge(value, addresses.programId), slot: BigInt(context.slot) };
}

function judge(
  found: { owner: PublicKey; data: Uint8Array } | null,
  programId: PublicKey,
): JobAccount {
  // After the closing anybody can send lamports there.
  if (!found || (areKeysEqual(found.owner, SYSTEM_PROGRAM) && found.data.length === 0)) {
    return { kind: 'none' };
  }
  if (!areKeysEqual(found.owner, programId)) return { kind: 'foreign', owner: found.owner };
  try {
    const { name, data } = decodeAccount(found.data);
    if (name === 'Job') return { kind: 'job', data };
    return { kind: 'unreadable', reason: `The account is a ${name}, not a job.` };
  } catch (error) {
    return { kind: 'unreadable', reason: `${(error as Error).message}.` };
  }
}
