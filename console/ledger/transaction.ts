import { base58, base64 } from '@scure/base';
import {
  compileMessage,
  encodeDraft,
  encodeMessage,
  getLatestBlockhash,
  NoAnswerError,
  PublicKey,
  preflightErrorOf,
  type Refusal,
  type Rpc,
  RpcError,
  refusalOf,
  sendTransaction,
} from '@svc-inference/client/wallet';
import type { ConsoleConfig } from '../../api/contracts/index.ts';
import type { Plan } from '../../programs/client/wallet/plan.ts';
import { refusalSentence } from '../../programs/client/wallet/refusals.ts';
import { type Connection, signTransaction } from '../wallet/wallets.ts';
import {
  addPending,
  dropPending,
  isPending,
  keepPlan,
  type PendingTransaction,
} from './pending.ts';
import { signatureOf } from './signedTransaction.ts';

/** The ledger's node, and how wallets name the ledger. */
interface Ledger extends Pick<ConsoleConfig, 'chain' | 'commitment'> {
  readonly rpc: Rpc;
}

/** The message to sign, in base58, as `svc send --print` gives it to a multisig's transaction builder. */
export async function messageOf(plan: Plan, { rpc, commitment }: Ledger) {
  const { value } = await getLatestBlockhash(rpc, { commitment });
  return base58.encode(encodeMessage(compile(plan, value.blockhash)));
}

function compile({ signer, instructions }: Plan, blockhash: string) {
  return compileMessage({
    version: 'legacy',
    instructions,
    feePayer: new PublicKey(signer),
    blockhash: base58.decode(blockhash),
  });
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

/** Nothing was signed, or what was signed is not sent. */
class NotSignedError extends Error {
  override name = 'NotSignedError';
}

/**
 * Has the wallet sign, notes the transaction in this browser, and sends it. What becomes of it is
 * followed elsewhere, until it is certain. The same is signed once at a time, in all pages together.
 *
 * @param signal ends the waiting for the wallet, after which nothing is sent
 * @throws NotSignedError when the owner declines, the same is pending, or the wallet returns another
 *   transaction. Nothing was sent then
 * @throws RefusedError when the ledger refuses it
 * @throws RpcError, NoAnswerError before the wallet is asked
 */
export async function signAndSend({
  plan,
  connection,
  ledger,
  signal,
}: {
  plan: Plan;
  connection: Connection;
  ledger: Ledger;
  signal: AbortSignal;
}): Promise<void> {
  const { rpc, chain, commitment } = ledger;
  const wallet = connection.account.address;
  const isSent = await navigator.locks.request(
    `svc.sign.${wallet}.${plan.title}`,
    { ifAvailable: true },
    async (lock) => {
      if (lock === null || isPending(plan.title, wallet)) return false;
      const { slot, value } = await getLatestBlockhash(rpc, { commitment });
      const asked = encodeDraft(compile(plan, value.blockhash));
      const signed = await askWallet(connection, { asked, chain, signal });
      const pending = {
        ...signed,
        lastValidBlockHeight: value.lastValidBlockHeight,
        title: plan.title,
        wallet,
      };
      await send(pending, slot, ledger);
      keepPlan(signed.signature, plan);
      return true;
    },
  );
  if (!isSent) throw new NotSignedError('The same is on its way, or being signed, already.');
}

export const NOTHING_MOVED = 'Nothing was sent and nothing moved.';

/** An error of `signAndSend` in a sentence for the owner. */
export function readable(error: unknown, { creditMint }: Plan): unknown {
  if (error instanceof RefusedError) return new Error(refusalSentence(error.refusal, creditMint));
  if (error instanceof NoAnswerError || error instanceof RpcError) return unreachable(error);
  return error;
}

export const unreachable = (cause: unknown) =>
  new Error("The ledger's node does not answer.", { cause });

async function askWallet(
  connection: Connection,
  { asked, chain, signal }: { asked: Uint8Array; chain: string; signal: AbortSignal },
): Promise<Pick<PendingTransaction, 'signature' | 'wire'>> {
  let signed: Uint8Array;
  try {
    signal.throwIfAborted();
    signed = await Promise.race([
      signTransaction(connection, { transaction: asked, chain }),
      untilAborted(signal),
    ]);
  } catch (cause) {
    const words = cause instanceof Error ? cause.message : 'It gave no reason.';
    throw new NotSignedError(`The wallet did not sign: ${words}`, { cause });
  }
  try {
    const signature = signatureOf(signed, asked, connection.account.address);
    return { signature, wire: base64.encode(signed) };
  } catch (cause) {
    throw new NotSignedError((cause as Error).message, { cause });
  }
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('You cancelled it in the page.')));
  });
}

async function send(
  pending: PendingTransaction,
  minContextSlot: number,
  { rpc, commitment }: Ledger,
): Promise<void> {
  // Before it is sent, so that a page that ends here still knows of it when it is opened again.
  addPending(pending);
  try {
    await sendTransaction(rpc, pending.wire, { preflightCommitment: commitment, minContextSlot });
  } catch (error) {
    const cause = error instanceof RpcError ? preflightErrorOf(error) : undefined;
    // Whether it was passed on may not be known: then it is followed, and sent again.
    if (cause === undefined) return;
    dropPending(pending);
    throw new RefusedError(refusalOf(cause));
  }
}
