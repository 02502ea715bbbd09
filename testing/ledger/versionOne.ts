import type { Keypair, TransactionInstruction } from '@solana/web3.js';
import bs58 from 'bs58';
import { delay } from '../../common/wait.ts';
import { sign } from '../../programs/client/proof.ts';
import {
  compileMessage,
  encodeMessage,
  encodeTransaction,
  type TransactionConfig,
} from '../../programs/client/wire/index.ts';
import { callLedger, type TestLedger } from './ledger.ts';

const POLL_MS = 100;

/**
 * Sends a transaction of version 1 until it is confirmed.
 *
 * @returns its signature
 * @throws Error when it is refused
 */
export async function sendVersionOne(
  { connection, rpcUrl }: Pick<TestLedger, 'connection' | 'rpcUrl'>,
  instructions: TransactionInstruction[],
  signers: readonly [Keypair, ...Keypair[]],
): Promise<string> {
  const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash('confirmed');
  const { wire, signature } = signVersionOne({ instructions, signers, blockhash });
  const config = { encoding: 'base64', preflightCommitment: 'confirmed' };
  await callLedger(rpcUrl, 'sendTransaction', [wire, config]);
  for (;;) {
    const { value } = await connection.getSignatureStatus(signature);
    if (value?.err) throw new Error(`${signature} was refused: ${JSON.stringify(value.err)}`);
    if (value && value.confirmationStatus !== 'processed') return signature;
    if ((await connection.getBlockHeight('confirmed')) > lastValidBlockHeight) {
      throw new Error(`${signature} has expired`);
    }
    await delay(POLL_MS);
    // A cluster may have lost it.
    await callLedger(rpcUrl, 'sendTransaction', [wire, { ...config, skipPreflight: true }]);
  }
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
