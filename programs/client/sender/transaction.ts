import { base58, base64 } from '@scure/base';
import {
  type AddressLookupTableAccount,
  ComputeBudgetProgram,
  type PublicKey,
  TransactionInstruction,
} from '@solana/web3.js';
import { lookUp } from '../keys.ts';
import { signBy } from '../proof.ts';
import {
  compileMessage,
  encodeMessage,
  encodeTransaction,
  KEY_BYTES,
  nameOfKey,
  SIGNATURE_BYTES,
  TRANSACTION_BYTES_MAX,
  type TransactionConfig,
} from '../wire/index.ts';
import type { InstructionCost } from './costs.ts';
import { type Signer, signByWallet } from './signer.ts';

/** The versions in which transactions are sent; a lookup table alone needs version 0. */
export type SentVersion = 'legacy' | 1;

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

/** The same as a message of version 1 says it: the price in all, and no instruction's own units. */
export function transactionConfig(limits: {
  computeUnits: number;
  microLamports: number | undefined;
  loadedBytes: number;
}): TransactionConfig {
  const { computeUnits, microLamports, loadedBytes } = limits;
  return {
    ...(microLamports !== undefined && {
      priorityFeeLamports: BigInt(Math.ceil((computeUnits * microLamports) / 1_000_000)),
    }),
    computeUnitLimit: computeUnits,
    loadedAccountsDataSizeLimit: loadedBytes,
  };
}

/** web3.js has no builder for this one: the discriminator and a u32. */
function loadedAccountsLimit(bytes: number): TransactionInstruction {
  const data = Buffer.alloc(5);
  data.writeUInt8(SET_LOADED_ACCOUNTS_DATA_SIZE_LIMIT, 0);
  data.writeUInt32LE(bytes, 1);
  return new TransactionInstruction({ programId: ComputeBudgetProgram.programId, keys: [], data });
}

/** Of every version: SIMD-0385 says so of the newest, and an older one has fewer by its bytes. */
export const KEYS_MAX = 64;

/** A transaction has more bytes or keys than the ledger takes. */
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
 * Compiles and signs a transaction. Wallets are asked one after the other.
 *
 * @param options.lookup makes it one of version 0
 * @param options.config for version 1 alone
 * @throws TransactionTooLargeError; what a wallet throws that does not sign
 */
export async function signTransaction(options: {
  instructions: TransactionInstruction[];
  feePayer: Signer;
  blockhash: string;
  signers: readonly Signer[];
  lookup: AddressLookupTableAccount | undefined;
  version?: SentVersion;
  config?: TransactionConfig;
}): Promise<SignedTransaction> {
  const { feePayer, lookup, version = 'legacy', config = {} } = options;
  const compiled = compileMessage({
    version: lookup ? 0 : version,
    config,
    instructions: options.instructions,
    feePayer: feePayer.publicKey,
    blockhash: base58.decode(options.blockhash),
    table: lookup && { key: lookup.key, addresses: lookup.state.addresses },
  });
  const message = encodeMessage(compiled);
  // So few signatures fit that their count has one byte.
  const size = 1 + compiled.signers.length * SIGNATURE_BYTES + message.length;
  const sizeMax = TRANSACTION_BYTES_MAX[compiled.version];
  if (size > sizeMax || compiled.keys.length > KEYS_MAX) {
    throw new TransactionTooLargeError(
      `A transaction has at most ${sizeMax} bytes and ${KEYS_MAX} keys, not ${size} and ${compiled.keys.length}`,
    );
  }
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

/** Instructions that travel together, with what they take. */
export interface Part {
  readonly instructions: readonly TransactionInstruction[];
  readonly costs: readonly InstructionCost[];
}

/** What a transaction still has room for: bytes, keys, calls and compute units. */
export type Room = ReturnType<typeof createRoom>;

/** Instructions, and all calls that they make. */
export const CALLS_MAX = 64;
const COMPUTE_UNITS_MAX = 1_400_000;

/**
 * What each version has besides keys, signatures and the parts' instructions: counts, blockhash, and
 * the three limits of `computeBudget` or `transactionConfig`.
 */
const OVERHEAD = {
  legacy: { bytes: 1 + 3 + 1 + 32 + 1 + (8 + 8 + 12), keys: 1, calls: 3 },
  1: { bytes: 1 + 3 + 4 + 32 + 2 + (8 + 4 + 4), keys: 0, calls: 0 },
} as const;

/** An empty transaction's room. */
export function createRoom(version: SentVersion, feePayer: PublicKey) {
  const overhead = OVERHEAD[version];
  const keys = new Set([nameOfKey(feePayer)]);
  const signers = new Set(keys);
  let bytes: number = overhead.bytes;
  let calls: number = overhead.calls;
  let computeUnits = (overhead.calls as number) * INSTRUCTION_COMPUTE_UNITS;

  function hasRoom(own: Load, newKeys: number, newSigners: number): boolean {
    const keyCount = keys.size + newKeys + overhead.keys;
    const signatures = (signers.size + newSigners) * SIGNATURE_BYTES;
    return (
      bytes + own.bytes + keyCount * KEY_BYTES + signatures <= TRANSACTION_BYTES_MAX[version] &&
      keyCount <= KEYS_MAX &&
      calls + own.calls <= CALLS_MAX &&
      computeUnits + own.computeUnits <= COMPUTE_UNITS_MAX
    );
  }

  return {
    /** Who will most likely pay. */
    feePayer,
    /**
     * Takes a part that finds room.
     *
     * @param newKeysMax how many keys it may bring at most; by default any number
     */
    take(part: Part, newKeysMax: number = KEYS_MAX): boolean {
      const own = loadOf(part, version);
      const named = namesIn(part);
      const newKeys = named.keys.filter((name) => !keys.has(name));
      const newSigners = named.signers.filter((name) => !signers.has(name));
      const isSmall = newKeys.length <= newKeysMax;
      if (!isSmall || !hasRoom(own, newKeys.length, newSigners.length)) return false;
      for (const name of newKeys) keys.add(name);
      for (const name of newSigners) signers.add(name);
      bytes += own.bytes;
      calls += own.calls;
      computeUnits += own.computeUnits;
      return true;
    },
    /** Whether a further part like this, which brings one new key, would find no room. */
    isFullFor: (part: Part): boolean => !hasRoom(loadOf(part, version), 1, 0),
  };
}

interface Names {
  readonly keys: readonly string[];
  readonly signers: readonly string[];
}

const names = new WeakMap<Part, Names>();

/** The keys that a part names, each once; found once, however often its place is looked for. */
const namesIn = (part: Part): Names => lookUp(names, part, () => findNames(part));

function findNames({ instructions }: Part): Names {
  const metas = instructions.flatMap(({ keys }) => keys);
  const programs = instructions.map(({ programId }) => programId);
  const signing = metas.filter(({ isSigner }) => isSigner);
  const namesOf = (keys: readonly PublicKey[]) => [...new Set(keys.map(nameOfKey))];
  return {
    keys: namesOf([...metas.map(({ pubkey }) => pubkey), ...programs]),
    signers: namesOf(signing.map(({ pubkey }) => pubkey)),
  };
}

interface Load extends InstructionCost {
  /** Of the instructions alone. */
  readonly bytes: number;
}

function loadOf({ instructions, costs }: Part, version: SentVersion): Load {
  return {
    bytes: sum(instructions.map(({ keys, data }) => lengthOf(version, keys.length, data.length))),
    calls: sum(costs.map(({ calls }) => calls)),
    computeUnits: sum(costs.map((cost) => cost.computeUnits)),
  };
}

/** An instruction's program, accounts and data, with the counts before them. */
function lengthOf(version: SentVersion, accounts: number, data: number): number {
  const counts = version === 1 ? 3 : countBytes(accounts) + countBytes(data);
  return 1 + counts + accounts + data;
}

const countBytes = (count: number): number => (count > 0x7f ? 2 : 1);

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
