import {
  type Connection,
  SendTransactionError,
  type SignatureStatus,
  type TransactionError,
  type VersionedTransaction,
} from '@solana/web3.js';
import { answered } from './answered.ts';

export interface Blockhash {
  readonly blockhash: string;
  readonly lastValidBlockHeight: number;
  readonly slot: number;
}

/** What the sender asks of a ledger's node. Every call ends in bounded time. */
export interface Ledger {
  latestBlockhash(): Promise<Blockhash>;
  /** Has a node check the transaction against the state at `slot` or later, then pass it on. */
  submit(transaction: VersionedTransaction, slot: number): Promise<Submission>;
  /** Passes the transaction on unchecked. */
  repeat(wire: Uint8Array): Promise<void>;
  /** In the order of `signatures`; null for what was not seen. `history` searches all blocks. */
  statuses(signatures: readonly string[], options: { history: boolean }): Promise<Statuses>;
  blockHeight(): Promise<{ height: number; slot: number }>;
}

/** Unless refused, a transaction may land; whether it was passed on is not certain. */
export type Submission = 'in flight' | { readonly error: TransactionError; readonly slot: number };

export interface Statuses {
  readonly slot: number;
  readonly values: (SignatureStatus | null)[];
}

/** New enough to build on, old enough not to be lost with a fork. */
const COMMITMENT = 'confirmed';
/** The most that a node takes in one question. */
const STATUSES_MAX = 256;

export function createLedger(connection: Connection): Ledger {
  return {
    async latestBlockhash() {
      const request = connection.getLatestBlockhashAndContext(COMMITMENT);
      const { context, value } = await answered(request);
      return { ...value, slot: context.slot };
    },

    async submit(transaction, minContextSlot) {
      const config = { preflightCommitment: COMMITMENT, minContextSlot, maxRetries: 0 } as const;
      try {
        await answered(connection.sendRawTransaction(transaction.serialize(), config));
        return 'in flight';
      } catch (error) {
        if (!(error instanceof SendTransactionError)) throw error;
      }
      // web3.js keeps only the text of a refusal; a simulation states it, and its slot, in full.
      const { context, value } = await answered(
        connection.simulateTransaction(transaction, { commitment: COMMITMENT, minContextSlot }),
      );
      return value.err === null ? 'in flight' : { error: value.err, slot: context.slot };
    },

    async repeat(wire) {
      await answered(connection.sendRawTransaction(wire, { skipPreflight: true, maxRetries: 0 }));
    },

    async statuses(signatures, options) {
      const config = { searchTransactionHistory: options.history };
      const answers = [];
      for (let from = 0; from < signatures.length; from += STATUSES_MAX) {
        const part = signatures.slice(from, from + STATUSES_MAX);
        answers.push(await answered(connection.getSignatureStatuses(part, config)));
      }
      return {
        slot: Math.min(...answers.map((answer) => answer.context.slot)),
        values: answers.flatMap((answer) => answer.value),
      };
    },

    async blockHeight() {
      const { blockHeight, absoluteSlot } = await answered(connection.getEpochInfo(COMMITMENT));
      if (blockHeight === undefined) throw new Error("The ledger's node tells no block height");
      return { height: blockHeight, slot: absoluteSlot };
    },
  };
}
