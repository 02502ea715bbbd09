import {
  type Connection,
  type PublicKey,
  SolanaJSONRPCError,
  SolanaJSONRPCErrorCode,
} from '@solana/web3.js';
import { COMMITMENT } from '../ledgerState.ts';
import type { Unread } from './evidence.ts';
import { type LedgerTransaction, readTransaction } from './transaction.ts';

/** The most that a node lists at once. */
const PAGE = 1_000;

export type ReadResult = { readonly transaction: LedgerTransaction } | { readonly unread: Unread };

/** A successful transaction, as a node lists it. */
export interface Listed {
  readonly signature: string;
  readonly slot: bigint;
}

export interface LedgerReader {
  /**
   * Lists what mentioned an address, newest first; failed transactions are left out, since they
   * changed nothing.
   *
   * @param before begins behind this transaction
   */
  list(address: PublicKey, before?: string): AsyncGenerator<Listed>;
  /** Nothing that is read is kept here: anybody can mention an address, any number of times. */
  read(signature: string): Promise<ReadResult>;
}

export function createLedgerReader(connection: Connection, programId: PublicKey): LedgerReader {
  return {
    async *list(address, before) {
      // No more than a page is remembered, since a history may have any length.
      let first: ReadonlySet<string> | undefined;
      for (;;) {
        const page = await connection.getSignaturesForAddress(
          address,
          { limit: PAGE, ...(before && { before }) },
          COMMITMENT,
        );
        for (const { signature, slot, err } of page) {
          // A node that does not know `before` begins anew, and this would have no end.
          if (first?.has(signature)) throw new Error(`it lists ${signature} twice`);
          if (err === null) yield { signature, slot: BigInt(slot) };
        }
        first ??= new Set(page.map(({ signature }) => signature));
        // A short page is not trusted to be the last one: rows can be missing from it.
        before = page.at(-1)?.signature;
        if (before === undefined) return;
      }
    },

    read: (signature) => readOne(connection, programId, signature),
  };
}

async function readOne(
  connection: Connection,
  programId: PublicKey,
  signature: string,
): Promise<ReadResult> {
  const unread = (reason: string) => ({ unread: { signature, reason } });
  try {
    const response = await connection.getTransaction(signature, {
      commitment: COMMITMENT,
      maxSupportedTransactionVersion: 0,
    });
    if (!response?.meta) return unread('The node lists a transaction and does not show it');
    return { transaction: readTransaction(signature, response, programId) };
  } catch (error) {
    // Anybody can mention a job in a transaction of a newer version.
    const code = error instanceof SolanaJSONRPCError ? error.code : undefined;
    if (code !== SolanaJSONRPCErrorCode.JSON_RPC_SERVER_ERROR_UNSUPPORTED_TRANSACTION_VERSION) {
      throw error;
    }
    return unread('A transaction is of a version that this client does not read');
  }
}
