/** Sending transactions, and the ledger's time. */
export { type Batcher, createBatcher } from './batcher.ts';
export { COSTS, type InstructionCost } from './costs.ts';
export { followTransaction } from './followTransaction.ts';
export { createLedgerClock, type LedgerClock } from './ledgerClock.ts';
export {
  createSender,
  type Instructions,
  type Sender,
  type SenderLog,
  type Sending,
} from './sender.ts';
export {
  LedgerUnavailableError,
  type Refusal,
  refusalOf,
  type SendResult,
  WithdrawnError,
} from './sendResult.ts';
export type { Signer, WalletSigner } from './signer.ts';
export { TransactionTooLargeError } from './transaction.ts';
