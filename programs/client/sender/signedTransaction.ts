import {
  type AddressLookupTableAccount,
  type Keypair,
  PACKET_DATA_SIZE,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { encodeBase58 } from '../base58.ts';
import { sign } from '../proof.ts';

/** A transaction does not fit into one packet of the ledger's network. */
export class TransactionTooLargeError extends Error {
  override name = 'TransactionTooLargeError';
}

export interface SignedTransaction {
  readonly transaction: VersionedTransaction;
  /** In base64, as nodes take it. */
  readonly wire: string;
  readonly signature: string;
}

/**
 * Compiles and signs a transaction: of the legacy kind, which is the smaller one, unless it uses a
 * lookup table.
 *
 * @throws TransactionTooLargeError
 */
export function signTransaction(options: {
  instructions: TransactionInstruction[];
  feePayer: Keypair;
  signers: readonly Keypair[];
  blockhash: string;
  lookup: AddressLookupTableAccount | undefined;
}): SignedTransaction {
  const { instructions, feePayer, blockhash, lookup } = options;
  const draft = new TransactionMessage({
    payerKey: feePayer.publicKey,
    recentBlockhash: blockhash,
    instructions,
  });
  const message = lookup ? draft.compileToV0Message([lookup]) : draft.compileToLegacyMessage();
  const bytes = fitted(() => message.serialize());
  const keypairs = [feePayer, ...options.signers];
  const required = message.staticAccountKeys.slice(0, message.header.numRequiredSignatures);
  const signatures = required.map((key) => {
    const keypair = keypairs.find(({ publicKey }) => publicKey.equals(key));
    if (keypair === undefined)
      throw new Error(`The transaction lacks the signer ${key.toBase58()}`);
    return sign(bytes, keypair);
  });
  const transaction = new VersionedTransaction(message, signatures);
  const wire = fitted(() => transaction.serialize());
  return {
    transaction,
    wire: Buffer.from(wire).toString('base64'),
    signature: encodeBase58(signatures[0] as Uint8Array),
  };
}

/** web3.js serializes a message into a buffer of a packet's size, and a transaction into a larger. */
function fitted(serialize: () => Uint8Array): Uint8Array {
  let bytes: Uint8Array;
  try {
    bytes = serialize();
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'RangeError') throw error;
    throw new TransactionTooLargeError(error.message);
  }
  if (bytes.length <= PACKET_DATA_SIZE) return bytes;
  throw new TransactionTooLargeError(`${bytes.length} bytes, of ${PACKET_DATA_SIZE} at most`);
}
