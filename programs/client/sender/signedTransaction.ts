import { base58 } from '@scure/base';
import {
  type AddressLookupTableAccount,
  type Keypair,
  PACKET_DATA_SIZE,
  type PublicKey,
  type TransactionInstruction,
  TransactionMessage,
} from '@solana/web3.js';
import { sign } from '../proof.ts';
import { type CompiledMessage, compileLegacyMessage } from './legacyMessage.ts';

/** A transaction does not fit into one packet of the ledger's network. */
export class TransactionTooLargeError extends Error {
  override name = 'TransactionTooLargeError';
}

export interface SignedTransaction {
  /** As the ledger's network carries it. */
  readonly bytes: Uint8Array;
  /** In base64, as nodes take it. */
  readonly wire: string;
  readonly signature: string;
}

const SIGNATURE_BYTES = 64;

interface Draft {
  readonly instructions: TransactionInstruction[];
  readonly feePayer: Keypair;
  readonly blockhash: string;
}

/**
 * Compiles and signs a transaction: of the legacy kind, which is the smaller one, unless it uses a
 * lookup table.
 *
 * @throws TransactionTooLargeError
 */
export function signTransaction(
  options: Draft & {
    signers: readonly Keypair[];
    lookup: AddressLookupTableAccount | undefined;
  },
): SignedTransaction {
  const { feePayer, blockhash, lookup } = options;
  const message = lookup
    ? compileWithLookup(options, lookup)
    : compileLegacyMessage({
        ...{ instructions: options.instructions, feePayer: feePayer.publicKey },
        blockhash: base58.decode(blockhash),
      });
  // So few signatures fit that their count has one byte.
  const size = 1 + message.signers.length * SIGNATURE_BYTES + message.bytes.length;
  if (size > PACKET_DATA_SIZE) {
    throw new TransactionTooLargeError(`${size} bytes, of ${PACKET_DATA_SIZE} at most`);
  }
  const keypairs = [feePayer, ...options.signers];
  const signatures = message.signers.map((key) => sign(message.bytes, ownerOf(key, keypairs)));
  const bytes = Buffer.concat([Uint8Array.of(signatures.length), ...signatures, message.bytes]);
  return {
    bytes,
    wire: bytes.toString('base64'),
    signature: base58.encode(signatures[0] as Uint8Array),
  };
}

function ownerOf(key: PublicKey, keypairs: readonly Keypair[]): Keypair {
  const keypair = keypairs.find(({ publicKey }) => publicKey.equals(key));
  if (keypair) return keypair;
  throw new Error(`The transaction lacks the signer ${key.toBase58()}`);
}

function compileWithLookup(
  { instructions, feePayer, blockhash }: Draft,
  lookup: AddressLookupTableAccount,
): CompiledMessage {
  const draft = new TransactionMessage({
    payerKey: feePayer.publicKey,
    recentBlockhash: blockhash,
    instructions,
  });
  const message = draft.compileToV0Message([lookup]);
  const signers = message.staticAccountKeys.slice(0, message.header.numRequiredSignatures);
  try {
    return { bytes: message.serialize(), signers };
  } catch (error) {
    // It is written into a buffer of a packet's size.
    if (!(error instanceof Error) || error.name !== 'RangeError') throw error;
    throw new TransactionTooLargeError(error.message);
  }
}
