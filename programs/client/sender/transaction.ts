import { base58, base64 } from '@scure/base';
import {
  type AddressLookupTableAccount,
  ComputeBudgetProgram,
  type PublicKey,
  TransactionInstruction,
} from '@solana/web3.js';
import { signBy } from '../proof.ts';
import {
  compileMessage,
  encodeMessage,
  encodeTransaction,
  SIGNATURE_BYTES,
  TRANSACTION_BYTES_MAX,
} from '../wire/index.ts';
import { type Signer, signByWallet } from './signer.ts';

/**
 * What our transactions load: the escrow and token programs' code, some 250 kB, and small accounts.
 * Left unsaid it would be `LOADED_BYTES_MAX`, which the ledger charges to the block like 16,000
 * compute units.
 */
export const LOADED_BYTES_USUAL = 512 * 1024;
/** The most that any transaction may load. */
export const LOADED_BYTES_MAX = 64 * 1024 * 1024;
const SET_LOADED_ACCOUNTS_DATA_SIZE_LIMIT = 4;
/** What the ledger charges a transaction for each instruction of this kind. */
const INSTRUCTION_COMPUTE_UNITS = 150;

/**
 * The instructions that bound what a transaction may use and, if named, what it pays for priority.
 * They belong behind all others, so that those keep their positions.
 *
 * @param limits.computeUnits what the other instructions may use together
 * @param limits.microLamports price of one compute unit
 * @param limits.loadedBytes what programs and accounts may have together
 */
export function computeBudget(limits: {
  computeUnits: number;
  microLamports: number | undefined;
  loadedBytes?: number;
}): TransactionInstruction[] {
  const { computeUnits, microLamports, loadedBytes = LOADED_BYTES_USUAL } = limits;
  const priced =
    microLamports === undefined
      ? []
      : [ComputeBudgetProgram.setComputeUnitPrice({ microLamports })];
  const units = computeUnits + (2 + priced.length) * INSTRUCTION_COMPUTE_UNITS;
  return [
    ComputeBudgetProgram.setComputeUnitLimit({ units }),
    loadedAccountsLimit(loadedBytes),
    ...priced,
  ];
}

/** web3.js has no builder for this one: the discriminator and a u32. */
function loadedAccountsLimit(bytes: number): TransactionInstruction {
  const data = Buffer.alloc(5);
  data.writeUInt8(SET_LOADED_ACCOUNTS_DATA_SIZE_LIMIT, 0);
  data.writeUInt32LE(bytes, 1);
  return new TransactionInstruction({ programId: ComputeBudgetProgram.programId, keys: [], data });
}

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

/**
 * Compiles and signs a transaction: of the legacy kind, which is the smaller one, unless it uses a
 * lookup table. Wallets are asked one after the other.
 *
 * @throws TransactionTooLargeError; what a wallet throws that does not sign
 */
export async function signTransaction(options: {
  instructions: TransactionInstruction[];
  feePayer: Signer;
  blockhash: string;
  signers: readonly Signer[];
  lookup: AddressLookupTableAccount | undefined;
}): Promise<SignedTransaction> {
  const { feePayer, lookup } = options;
  const compiled = compileMessage({
    version: lookup ? 0 : 'legacy',
    instructions: options.instructions,
    feePayer: feePayer.publicKey,
    blockhash: base58.decode(options.blockhash),
    table: lookup && { key: lookup.key, addresses: lookup.state.addresses },
  });
  const message = encodeMessage(compiled);
  // So few signatures fit that their count has one byte.
  const size = 1 + compiled.signers.length * SIGNATURE_BYTES + message.length;
  const sizeMax = TRANSACTION_BYTES_MAX[compiled.version];
  if (size > sizeMax)
    throw new TransactionTooLargeError(`A transaction has at most ${sizeMax} bytes, not ${size}`);
  const signatures: Uint8Array[] = [];
  for (const key of compiled.signers) {
    const signer = signerOf(key, [feePayer, ...options.signers]);
    const signature =
      'signTransaction' in signer
        ? await signByWallet(message, signer)
        : await signBy(message, signer);
    signatures.push(signature);
  }
  const bytes = encodeTransaction(compiled, message, signatures);
  return {
    bytes,
    wire: base64.encode(bytes),
    signature: base58.encode(signatures[0] as Uint8Array),
  };
}

function signerOf(key: PublicKey, signers: readonly Signer[]): Signer {
  const signer = signers.find(({ publicKey }) => publicKey.equals(key));
  if (signer) return signer;
  throw new Error(`The transaction lacks the signer ${key.toBase58()}`);
}
