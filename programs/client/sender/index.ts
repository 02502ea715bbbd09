/** Sending transactions, and the ledger's time. */
export { type Batcher, createBatcher } from './batcher.ts';
export { followTransaction } from './followTransaction.ts';
export { createLedgerClock, type LedgerClock } from './ledgerClock.ts';
export {
  LedgerUnavailableError,
  type Outcome,
  type Refusal,
  refusalOf,
  WithdrawnError,
} from './outcome.ts';
export {
  createSender,
  type Instructions,
  type Sender,
  type SenderLog,
  type Sending,
} from './sender.ts';
export type { Signer, WalletSigner } from './signer.ts';
export { TransactionTooLargeError } from './transaction.ts';
