import { base58 } from '@scure/base';
import {
  type AddressLookupTableAccount,
  ComputeBudgetProgram,
  type Keypair,
  PACKET_DATA_SIZE,
  type PublicKey,
  TransactionInstruction,
  TransactionMessage,
} from '@solana/web3.js';
import { sign } from '../proof.ts';

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

/** A message of the legacy kind, ready to be signed. */
interface CompiledMessage {
  readonly bytes: Uint8Array;
  /** Who has to sign it, the fee payer first. */
  readonly signers: readonly PublicKey[];
}

interface Account {
  readonly key: PublicKey;
  isSigner: boolean;
  isWritable: boolean;
}

/**
 * Compiles a message as web3.js does, byte for byte. web3.js spells every key of every instruction in
 * base58 to tell them apart, which took a tenth of the API's time.
 *
 * @param blockhash its 32 bytes
 */
export function compileLegacyMessage(options: {
  instructions: readonly TransactionInstruction[];
  feePayer: PublicKey;
  blockhash: Uint8Array;
}): CompiledMessage {
  const { instructions, feePayer, blockhash } = options;
  const accounts = gather(instructions, feePayer);
  // Writable signers, other signers, writable accounts, all others; each in the order of first use.
  const groups = [
    accounts.filter(({ isSigner, isWritable }) => isSigner && isWritable),
    accounts.filter(({ isSigner, isWritable }) => isSigner && !isWritable),
    accounts.filter(({ isSigner, isWritable }) => !isSigner && isWritable),
    accounts.filter(({ isSigner, isWritable }) => !isSigner && !isWritable),
  ] as const;
  const ordered = groups.flat();
  const places = new Map(ordered.map(({ key }, place) => [nameOf(key), place]));
  const placeOf = (key: PublicKey): number => places.get(nameOf(key)) ?? 0;
  const signers = [...groups[0], ...groups[1]].map(({ key }) => key);
  const parts = [
    Uint8Array.of(signers.length, groups[1].length, groups[3].length),
    lengthOf(ordered.length),
    ...ordered.map(({ key }) => key.toBytes()),
    blockhash,
    lengthOf(instructions.length),
    ...instructions.flatMap(({ programId, keys, data }) => [
      Uint8Array.of(placeOf(programId)),
      lengthOf(keys.length),
      Uint8Array.from(keys, ({ pubkey }) => placeOf(pubkey)),
      lengthOf(data.length),
      data,
    ]),
  ];
  return { bytes: Buffer.concat(parts), signers };
}

function gather(
  instructions: readonly TransactionInstruction[],
  feePayer: PublicKey,
): readonly Account[] {
  const accounts = new Map<string, Account>();
  const note = (key: PublicKey, isSigner: boolean, isWritable: boolean): void => {
    const known = accounts.get(nameOf(key));
    if (known) {
      known.isSigner ||= isSigner;
      known.isWritable ||= isWritable;
    } else accounts.set(nameOf(key), { key, isSigner, isWritable });
  };
  note(feePayer, true, true);
  for (const { programId, keys } of instructions) {
    note(programId, false, false);
    for (const { pubkey, isSigner, isWritable } of keys) note(pubkey, isSigner, isWritable);
  }
  return [...accounts.values()];
}

const names = new WeakMap<PublicKey, string>();

/** A key's bytes as text, found once for each object. */
function nameOf(key: PublicKey): string {
  let name = names.get(key);
  if (name === undefined) {
    name = String.fromCharCode(...key.toBytes());
    names.set(key, name);
  }
  return name;
}

/** Seven bits a byte, lowest first. */
function lengthOf(count: number): Uint8Array {
  return count < 0x80 ? Uint8Array.of(count) : Uint8Array.of((count & 0x7f) | 0x80, count >> 7);
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
        instructions: options.instructions,
        feePayer: feePayer.publicKey,
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
