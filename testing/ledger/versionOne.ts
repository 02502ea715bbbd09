import { base58 } from '@scure/base';
import type { Keypair, TransactionInstruction } from '@solana/web3.js';
import { sign } from '../../programs/client/proof.ts';
import { getLatestBlockhash, sendTransaction } from '../../programs/client/rpc/methods.ts';
import { createConfirmer } from '../../programs/client/sender/confirmer.ts';
import {
  compileMessage,
  encodeMessage,
  encodeTransaction,
  type TransactionConfig,
} from '../../programs/client/wire/index.ts';
import type { TestLedger } from './ledger.ts';

/**
 * Sends a transaction of version 1 until it has landed.
 *
 * @returns its signature
 * @throws Error when it does not land
 */
export async function sendVersionOne(
  { rpc }: Pick<TestLedger, 'rpc'>,
  instructions: TransactionInstruction[],
  signers: readonly [Keypair, ...Keypair[]],
): Promise<string> {
  const commitment = 'confirmed';
  const { slot, value } = await getLatestBlockhash(rpc, { commitment });
  const { blockhash, lastValidBlockHeight } = value;
  const { wire, signature } = signVersionOne({ instructions, signers, blockhash });
  await sendTransaction(rpc, wire, { preflightCommitment: commitment, minContextSlot: slot });
  const confirmer = createConfirmer({ rpc, wsUrl: undefined, commitment });
  try {
    const outcome = await confirmer.confirm({ wire, signature, lastValidBlockHeight });
    if (outcome.status !== 'landed') throw new Error(JSON.stringify(outcome));
  } finally {
    confirmer.close();
  }
  return signature;
}

/** As much as any transaction of ours needs. */
const CONFIG = {
  priorityFeeLamports: 77n,
  computeUnitLimit: 400_000,
  loadedAccountsDataSizeLimit: 1_048_576,
};

/**
 * Signs a transaction of version 1.
 *
 * @param signers the fee payer first
 */
export function signVersionOne(options: {
  instructions: TransactionInstruction[];
  signers: readonly [Keypair, ...Keypair[]];
  blockhash: string;
  config?: TransactionConfig;
}): { bytes: Uint8Array; wire: string; signature: string } {
  const { instructions, signers, blockhash, config = CONFIG } = options;
  const compiled = compileMessage({
    ...{ version: 1, instructions, config },
    feePayer: signers[0].publicKey,
    blockhash: base58.decode(blockhash),
  });
  const message = encodeMessage(compiled);
  const signatures = compiled.signers.map((key) => {
    const signer = signers.find(({ publicKey }) => publicKey.equals(key));
    if (!signer) throw new Error(`the transaction lacks the signer ${key.toBase58()}`);
    return sign(message, signer);
  });
  const bytes = encodeTransaction(compiled, message, signatures);
  return {
    bytes,
    wire: Buffer.from(bytes).toString('base64'),
    signature: base58.encode(signatures[0] as Uint8Array),
  };
}
