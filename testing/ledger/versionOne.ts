import type { Keypair, TransactionInstruction } from '@solana/web3.js';
import bs58 from 'bs58';
import { sign } from '../../programs/client/proof.ts';
import {
  compileMessage,
  encodeMessage,
  encodeTransaction,
  type TransactionConfig,
} from '../../programs/client/wire/index.ts';
import { callLedger, type TestLedger } from './ledger.ts';

/** Sends a transaction of version 1, which is confirmed when the call returns. */
export async function sendVersionOne(
  { connection, rpcUrl }: Pick<TestLedger, 'connection' | 'rpcUrl'>,
  instructions: TransactionInstruction[],
  signers: readonly [Keypair, ...Keypair[]],
): Promise<void> {
  const { blockhash } = await connection.getLatestBlockhash();
  const { wire } = signVersionOne({ instructions, signers, blockhash });
  await callLedger(rpcUrl, 'sendTransaction', [wire, { encoding: 'base64' }]);
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
    blockhash: bs58.decode(blockhash),
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
    signature: bs58.encode(signatures[0] as Uint8Array),
  };
}
