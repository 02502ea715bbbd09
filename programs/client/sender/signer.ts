import { type PublicKey, VersionedMessage, VersionedTransaction } from '@solana/web3.js';
import { areBytesEqual } from '../platform/bytes.ts';
import { type KeyHolder, verifySignature } from '../proof.ts';

/** Signs transactions without showing its secret key: a wallet adapter, or a key kept elsewhere. */
export interface WalletSigner {
  readonly publicKey: PublicKey;
  /** @returns the same transaction with its signature. Rejects when its owner declines */
  signTransaction(transaction: VersionedTransaction): Promise<VersionedTransaction>;
}

/** What signs a transaction. */
export type Signer = KeyHolder | WalletSigner;

/**
 * Has a wallet sign a compiled message.
 *
 * @throws Error when the wallet changed the message or did not sign it; what the wallet throws
 */
export async function signByWallet(message: Uint8Array, wallet: WalletSigner): Promise<Uint8Array> {
  const { publicKey } = wallet;
  const unsigned = new VersionedTransaction(VersionedMessage.deserialize(message));
  const signed = await wallet.signTransaction(unsigned);
  if (!areBytesEqual(signed.message.serialize(), message)) {
    throw new Error(`The wallet ${publicKey.toBase58()} changed the transaction`);
  }
  const place = signed.message.staticAccountKeys.findIndex((key) => key.equals(publicKey));
  const signature = signed.signatures[place];
  if (!signature || !verifySignature({ publicKey, message, signature })) {
    throw new Error(`The wallet ${publicKey.toBase58()} did not sign the transaction`);
  }
  return signature;
}
