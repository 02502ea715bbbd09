import type { TransactionError } from '@solana/web3.js';
import { escrowErrorOf } from '../errors.ts';

/** Why a transaction was refused. */
export interface Refusal {
  /** The escrow program's error by its name, else the ledger's, with the account at fault. */
  readonly name: string;
  /** The escrow program's error number; null when the cause lies elsewhere. */
  readonly code: number | null;
  /** Position among the sender's instructions; null when no single one is at fault. */
  readonly instructionIndex: number | null;
}

/** How a transaction that was sent ended. */
export type SendResult =
  /** It landed at `slot` or before: a notice has the slot at which it was seen confirmed. */
  | { readonly status: 'landed'; readonly signature: string; readonly slot: number }
  /**
   * Refused: in a block, or before it was passed on. It changed nothing. In a block, `slot` is the
   * block's. Before that, it is the least slot that the node was asked to have. So a refusal never
   * looks newer than it is. It is at least the slot of the newest result of this sender.
   */
  | {
      readonly status: 'failed';
      readonly signature: string | null;
      readonly error: Refusal;
      readonly slot: number;
    }
  /**
   * Its blockhash was dead by block height and no trace of it was found at `slot`: it can never
   * land. Read at `slot` or later whether another transaction has had the same effect.
   */
  | {
      readonly status: 'expired';
      readonly signature: string;
      readonly lastValidBlockHeight: number;
      readonly slot: number;
    };

/** The ledger was out of reach for too long. */
export class LedgerUnavailableError extends Error {
  override name = 'LedgerUnavailableError';
  /** A transaction that may or may not land; null when none was sent. */
  readonly signature: string | null;

  constructor(message: string, options: { signature: string | null; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.signature = options.signature;
  }
}

/** The transaction was cancelled before its turn: it was neither signed nor sent. */
export class WithdrawnError extends Error {
  override name = 'WithdrawnError';
}

/** The ledger's errors for a fee payer that cannot pay the fee, or not without falling below rent. */
const UNABLE_TO_PAY = new Set([
  'AccountNotFound',
  'InvalidAccountForFee',
  'InsufficientFundsForFee',
  'InsufficientFundsForRent',
]);
/** The system program's error where an account cannot pay for another's rent. */
const RENT_NOT_PAID = '{"Custom":1}';
/** For a while the ledger takes no transaction that writes this account, or none at all. */
const FULL = /^(AccountInUse|ClusterMaintenance|WouldExceed.*)$/;

/**
 * Whether another fee payer may be able to pay what this one could not.
 *
 * @param paysRent whether the instructions have the fee payer pay rent, too
 */
export function isUnableToPay({ name }: Refusal, paysRent: boolean): boolean {
  return UNABLE_TO_PAY.has(name) || (paysRent && name === RENT_NOT_PAID);
}

/** Whether the same instructions may succeed later: no fee payer could pay, or blocks are full. */
export function mayPass({ name }: Refusal): boolean {
  return UNABLE_TO_PAY.has(name) || FULL.test(name);
}

/** Reads the error of a transaction, as the ledger states it, into names. */
export function refusalOf(error: TransactionError): Refusal {
  const own = escrowErrorOf(error);
  if (own !== undefined) return own;
  if (typeof error === 'string') return { name: error, code: null, instructionIndex: null };
  const [name = 'Unknown', detail] = Object.entries(error)[0] ?? [];
  if (name !== 'InstructionError') {
    // Account 0 is the fee payer. Any other is named.
    const { account_index: account = 0 } = detail as { account_index?: number };
    const whose = account === 0 ? name : `${name} of account ${account}`;
    return { name: whose, code: null, instructionIndex: null };
  }
  const [instructionIndex, cause] = detail as [number, unknown];
  const text = typeof cause === 'string' ? cause : JSON.stringify(cause);
  return { name: text, code: null, instructionIndex };
}
