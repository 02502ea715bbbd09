import { base58, base64 } from '@scure/base';
import type { TransactionInstruction } from '@solana/web3.js';
import {
  compileLegacyMessage,
  getLatestBlockhash,
  PublicKey,
  preflightErrorOf,
  type Refusal,
  type Rpc,
  RpcError,
  refusalOf,
  sendTransaction,
  simulateTransaction,
} from 'svc-client/wallet';
import { type Connection, signTransaction } from '../wallet/wallets.ts';
import { addPending, dropPending, type PendingTransaction } from './pending.ts';

/** Something that a wallet is asked to sign. */
export interface Plan {
  /** In the imperative, such as "Buy 5,000 credits". */
  readonly title: string;
  /** Who signs and pays, where it is not the wallet that is signed in, such as a multisig. */
  readonly signer?: string;
  readonly instructions: TransactionInstruction[];
  /** Addresses of the accounts by which its effect is told. */
  readonly watched: readonly string[];
  /** The effect in sentences. @param accounts the watched ones as the transaction would leave them */
  readonly describe: (accounts: readonly (Uint8Array | null)[]) => string[];
}

interface Ledger {
  readonly rpc: Rpc;
  /** As wallets name it. */
  readonly chain: string;
  readonly commitment: 'confirmed' | 'finalized';
}

const SIGNATURE_BYTES = 64;

/** The message to sign, in base58, as `svc send --print` gives it to a multisig's transaction builder. */
export async function messageOf(plan: Plan, signer: string, { rpc, commitment }: Ledger) {
  const { value } = await getLatestBlockhash(rpc, { commitment });
  return base58.encode(compile(plan, signer, value.blockhash).bytes);
}

function compile({ instructions }: Plan, signer: string, blockhash: string) {
  return compileLegacyMessage({
    instructions,
    feePayer: new PublicKey(signer),
    blockhash: base58.decode(blockhash),
  });
}

/** The transaction as the ledger's network carries it, with empty places for the signatures. */
function draft(plan: Plan, wallet: string, blockhash: string): Uint8Array {
  const { bytes, signers } = compile(plan, wallet, blockhash);
  const transaction = new Uint8Array(1 + signers.length * SIGNATURE_BYTES + bytes.length);
  transaction[0] = signers.length;
  transaction.set(bytes, transaction.length - bytes.length);
  return transaction;
}

type Preview =
  | { readonly accepted: true; readonly effects: readonly string[] }
  | { readonly accepted: false; readonly refusal: Refusal };

/**
 * What the transaction would do at present, by the ledger's own word.
 *
 * @throws RpcError, NoAnswerError when the node does not say
 */
export async function preview(plan: Plan, wallet: string, ledger: Ledger): Promise<Preview> {
  const { rpc, commitment } = ledger;
  const { value } = await getLatestBlockhash(rpc, { commitment });
  const wire = base64.encode(draft(plan, wallet, value.blockhash));
  const { err, accounts } = await simulateTransaction(rpc, wire, {
    commitment,
    accounts: plan.watched,
  });
  return err === null
    ? { accepted: true, effects: plan.describe(accounts) }
    : { accepted: false, refusal: refusalOf(err as never) };
}

/** The node refused the transaction before it passed it on, so that it can never land. */
export class RefusedError extends Error {
  override name = 'RefusedError';
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.name);
    this.refusal = refusal;
  }
}

/**
 * Has the wallet sign, notes the transaction in this browser, and sends it. What becomes of it is
 * followed elsewhere, until it is certain.
 *
 * @throws Error when the owner declines: nothing was signed. RefusedError when the ledger refuses
 */
export async function signAndSend(
  plan: Plan,
  connection: Connection,
  ledger: Ledger,
): Promise<PendingTransaction> {
  const { rpc, chain, commitment } = ledger;
  const { address } = connection.account;
  const { slot, value } = await getLatestBlockhash(rpc, { commitment });
  const signed = await signTransaction(connection, {
    transaction: draft(plan, address, value.blockhash),
    chain,
  });
  const wire = base64.encode(signed);
  const pending: PendingTransaction = {
    signature: base58.encode(signed.subarray(1, 1 + SIGNATURE_BYTES)),
    wire,
    lastValidBlockHeight: value.lastValidBlockHeight,
    title: plan.title,
    wallet: address,
  };
  // Before it is sent, so that a page that ends here still knows of it when it is opened again.
  addPending(pending);
  try {
    await sendTransaction(rpc, wire, { preflightCommitment: commitment, minContextSlot: slot });
  } catch (error) {
    const cause = error instanceof RpcError ? preflightErrorOf(error) : undefined;
    // Whether it was passed on may not be known: then it is followed, and sent again.
    if (cause === undefined) return pending;
    dropPending(pending);
    throw new RefusedError(refusalOf(cause as never));
  }
  return pending;
}
