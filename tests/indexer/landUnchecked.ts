import {
  type Connection,
  type Keypair,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';

/**
 * Lands a transaction of one instruction without any check before, so that a refused one is
 * recorded by the ledger too.
 *
 * @returns its signature
 */
export async function landUnchecked(
  { connection, payer }: { connection: Connection; payer: Keypair },
  instruction: TransactionInstruction,
): Promise<string> {
  const { blockhash } = await connection.getLatestBlockhash('confirmed');
  const message = new TransactionMessage({
    payerKey: payer.publicKey,
    recentBlockhash: blockhash,
    instructions: [instruction],
  });
  const transaction = new VersionedTransaction(message.compileToV0Message());
  transaction.sign([payer]);
  const signature = await connection.sendTransaction(transaction, { skipPreflight: true });
  while ((await connection.getSignatureStatus(signature)).value === null);
  return signature;
}
