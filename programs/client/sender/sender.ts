import type {
  AddressLookupTableAccount,
  Connection,
  Keypair,
  PublicKey,
  TransactionInstruction,
} from '@solana/web3.js';
import type { Logger } from '../../../runtime/logger.ts';
import { createBlockhashes } from './blockhashes.ts';
import { computeBudget } from './computeBudget.ts';
import { createConfirmer, type SenderCommitment } from './confirmer.ts';
import { type Blockhash, createLedger, type Submission } from './ledger.ts';
import { LedgerUnavailableError, type Outcome, refusalOf } from './outcome.ts';
import { createSignatureHints } from './signatureHints.ts';
import { type SignedTransaction, signTransaction } from './signedTransaction.ts';

/** Instructions as they are, or made for the fee payer that will sign, who may pay rent as well. */
export type Instructions =
  | readonly TransactionInstruction[]
  | ((feePayer: PublicKey) => readonly TransactionInstruction[]);

export interface Sending {
  /** They keep their positions: what the sender adds comes behind them. */
  readonly instructions: Instructions;
  /** Whoever signs besides the fee payer. */
  readonly signers: readonly Keypair[];
  /** What the instructions may use together. */
  readonly computeUnitLimit: number;
  readonly lookup?: AddressLookupTableAccount;
}

/** Sends transactions and tells for certain how each ended. */
export interface Sender {
  /**
   * @throws LedgerUnavailableError when the ledger is out of reach. With a signature, the
   *   transaction's fate is not known and has to be read once its blockhash is dead
   * @throws TransactionTooLargeError
   */
  send(sending: Sending): Promise<Outcome>;
  /** Gives up what is in flight; its fate is then not known. */
  close(): void;
}

const IN_FLIGHT_MAX = 4_096;
/** A node that is behind its neighbours may not know a fresh blockhash yet. */
const BLOCKHASHES_TRIED_MAX = 3;

/**
 * @param options.feePayers take turns, so that no single account's write lock bounds throughput
 * @param options.priorityFee micro-lamports per compute unit, asked for each transaction; its
 *   failure is the send's
 */
export function createSender(options: {
  connection: Connection;
  feePayers: readonly Keypair[];
  commitment: SenderCommitment;
  logger: Logger;
  priorityFee?: () => Promise<number>;
}): Sender {
  const { connection, feePayers, commitment, logger, priorityFee } = options;
  const ledger = createLedger(connection);
  const blockhashes = createBlockhashes(ledger);
  const hints = createSignatureHints(connection, commitment);
  const confirmer = createConfirmer({ ledger, hints, commitment });
  let turn = 0;
  let newestSlot = 0;

  async function prepare(sending: Sending, feePayer: Keypair, { blockhash }: Blockhash) {
    const { instructions, signers, computeUnitLimit: computeUnits, lookup } = sending;
    const own =
      typeof instructions === 'function' ? instructions(feePayer.publicKey) : instructions;
    const limits = computeBudget({ computeUnits, microLamports: await priorityFee?.() });
    return signTransaction({
      instructions: [...own, ...limits],
      feePayer,
      signers,
      blockhash,
      lookup,
    });
  }

  /** A node that fails to answer may have passed the transaction on before. */
  async function submit(signed: SignedTransaction, slot: number): Promise<Submission> {
    try {
      return await ledger.submit(signed.transaction, slot);
    } catch (error) {
      const { signature } = signed;
      logger.warn({ msg: 'Got no answer about a sent transaction', signature, err: error });
      return 'in flight';
    }
  }

  async function send(sending: Sending): Promise<Outcome> {
    if (confirmer.inFlight >= IN_FLIGHT_MAX) {
      throw new LedgerUnavailableError('Too much is in flight', { signature: null });
    }
    const feePayer = feePayers[turn++ % feePayers.length];
    if (feePayer === undefined) throw new Error('The sender has no fee payer');
    for (let tried = 0; tried < BLOCKHASHES_TRIED_MAX; tried += 1) {
      const blockhash = await blockhashes.current();
      const signed = await prepare(sending, feePayer, blockhash);
      const submission = await submit(signed, Math.max(blockhash.slot, newestSlot));
      if (submission === 'in flight' || submission.error === 'AlreadyProcessed') {
        const { lastValidBlockHeight } = blockhash;
        return confirmer.confirm({ ...signed, lastValidBlockHeight });
      }
      if (submission.error !== 'BlockhashNotFound') {
        const { error, slot } = submission;
        return { status: 'rejected', signature: null, error: refusalOf(error), slot };
      }
      blockhashes.forget(blockhash);
    }
    throw new LedgerUnavailableError('No node knows a fresh blockhash', { signature: null });
  }

  return {
    async send(sending) {
      const outcome = await send(sending);
      newestSlot = Math.max(newestSlot, outcome.slot);
      return outcome;
    },
    close: confirmer.close,
  };
}
