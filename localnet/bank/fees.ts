import { base58 } from '@scure/base';
import { nameOfBytes } from '../../programs/client/platform/bytes.ts';
import type { Message } from '../../programs/client/wire/index.ts';

/** A cluster's fee for each signature, including those in precompiles. */
export const LAMPORTS_PER_SIGNATURE = 5_000n;
const LAMPORTS_MAX = 2n ** 64n - 1n;
const MICRO_LAMPORTS_PER_LAMPORT = 1_000_000n;
const COMPUTE_UNITS_MAX = 1_400_000;
/** The compute units of an instruction in a transaction without a limit. */
const COMPUTE_UNITS_DEFAULT = 200_000;
const COMPUTE_UNITS_BUILTIN = 3_000;

/** What a transaction without a limit may load. */
const LOADED_BYTES_DEFAULT = 64 * 1_024 * 1_024;

// The constants of a cluster's cost model.
const UNITS_PER_SIGNATURE = 720;
const UNITS_PER_WRITTEN_ACCOUNT = 300;
const DATA_BYTES_PER_UNIT = 4;
const LOADED_PAGE_BYTES = 32 * 1_024;
const UNITS_PER_LOADED_PAGE = 8;

const SET_COMPUTE_UNIT_LIMIT = 2;
const SET_COMPUTE_UNIT_PRICE = 3;
const SET_LOADED_BYTES_LIMIT = 4;

const idOf = (address: string): string => nameOfBytes(base58.decode(address));
const COMPUTE_BUDGET = idOf('ComputeBudget111111111111111111111111111111');
const ED25519 = idOf('Ed25519SigVerify111111111111111111111111111');
const SECP256K1 = idOf('KeccakSecp256k11111111111111111111111111111');
/** The newest precompile gets as many units as a program outside the system's. */
const SECP256R1 = idOf('Secp256r1SigVerify1111111111111111111111111');
/** What a verification counts in a block. */
const VERIFICATION_UNITS = new Map([
  [ED25519, 2_400],
  [SECP256K1, 6_690],
  [SECP256R1, 4_800],
]);
const LOADERS = [
  'BPFLoaderUpgradeab1e11111111111111111111111',
  'BPFLoader1111111111111111111111111111111111',
  'BPFLoader2111111111111111111111111111111111',
  'LoaderV411111111111111111111111111111111111',
].map(idOf);
const SYSTEM = idOf('11111111111111111111111111111111');
const BUILTINS = new Set([COMPUTE_BUDGET, ED25519, SECP256K1, SYSTEM, ...LOADERS]);

/** What a transaction asks for. */
interface Budget {
  /** Of the transaction and in precompiles. */
  readonly signatures: number;
  /** What the precompiles' verifications count in a block. */
  readonly verificationUnits: number;
  readonly computeUnits: number;
  readonly loadedBytes: number;
  readonly microLamportsPerUnit: bigint;
}

export function budgetOf({ version, header, keys, instructions, config }: Message): Budget {
  let signatures = header.numRequiredSignatures;
  let verificationUnits = 0;
  let unitsDefault = 0;
  let units = config.computeUnitLimit;
  let loadedBytes = config.loadedAccountsDataSizeLimit;
  let microLamportsPerUnit = 0n;
  for (const { programIdIndex, data } of instructions) {
    const program = nameOfBytes(keys[programIdIndex] as Uint8Array);
    unitsDefault += BUILTINS.has(program) ? COMPUTE_UNITS_BUILTIN : COMPUTE_UNITS_DEFAULT;
    const verification = VERIFICATION_UNITS.get(program);
    if (verification !== undefined) {
      // A precompile's first byte is the number of its signatures.
      const verified = data[0] ?? 0;
      signatures += verified;
      verificationUnits += verified * verification;
    }
    // A message of version 1 says itself what it pays, and these instructions do nothing.
    if (program !== COMPUTE_BUDGET || version === 1) continue;
    const view = new DataView(data.buffer, data.byteOffset, data.length);
    const [kind] = data;
    if (kind === SET_COMPUTE_UNIT_LIMIT && data.length >= 5) units = view.getUint32(1, true);
    if (kind === SET_LOADED_BYTES_LIMIT && data.length >= 5) loadedBytes = view.getUint32(1, true);
    if (kind === SET_COMPUTE_UNIT_PRICE && data.length >= 9) {
      microLamportsPerUnit = view.getBigUint64(1, true);
    }
  }
  return {
    signatures,
    verificationUnits,
    computeUnits: Math.min(units ?? unitsDefault, COMPUTE_UNITS_MAX),
    loadedBytes: Math.min(loadedBytes ?? LOADED_BYTES_DEFAULT, LOADED_BYTES_DEFAULT),
    microLamportsPerUnit,
  };
}

/** The fee of a transaction in lamports, for success and failure alike. */
export function feeOf(message: Message): bigint {
  const { signatures, computeUnits, microLamportsPerUnit } = budgetOf(message);
  const microLamports = BigInt(computeUnits) * microLamportsPerUnit;
  const priority =
    message.config.priorityFeeLamports ??
    (microLamports + MICRO_LAMPORTS_PER_LAMPORT - 1n) / MICRO_LAMPORTS_PER_LAMPORT;
  const fee = BigInt(signatures) * LAMPORTS_PER_SIGNATURE + priority;
  return fee > LAMPORTS_MAX ? LAMPORTS_MAX : fee;
}

/** What a block takes, in units of a cluster's cost model. */
export interface BlockLimits {
  readonly blockUnits: number;
  /** For all transactions together that write one account. */
  readonly accountUnits: number;
}

/**
 * What a transaction takes of a block, in units of a cluster's cost model.
 *
 * @param written how many accounts it may change
 * @param used the compute units that it used; by default all that it asks for
 */
function costOf(transaction: Message, written: number, used?: number): number {
  const { verificationUnits, loadedBytes, computeUnits } = budgetOf(transaction);
  const dataBytes = transaction.instructions.reduce((sum, { data }) => sum + data.length, 0);
  return (
    transaction.header.numRequiredSignatures * UNITS_PER_SIGNATURE +
    verificationUnits +
    written * UNITS_PER_WRITTEN_ACCOUNT +
    Math.floor(dataBytes / DATA_BYTES_PER_UNIT) +
    Math.ceil(loadedBytes / LOADED_PAGE_BYTES) * UNITS_PER_LOADED_PAGE +
    (used ?? computeUnits)
  );
}

/**
 * What is left of an open block. As a leader does, it takes a transaction by what that asks for, and
 * counts what it used. Loaded bytes count as asked for: the runtime does not report them.
 */
export function createBlockSpace({ blockUnits, accountUnits }: BlockLimits) {
  let units = 0;
  const unitsByAccount = new Map<string, number>();
  const unitsOf = (account: Uint8Array): number => unitsByAccount.get(nameOfBytes(account)) ?? 0;

  return {
    /** @param written the accounts that the transaction may change */
    fits(transaction: Message, written: readonly Uint8Array[]): boolean {
      const cost = costOf(transaction, written.length);
      const fitsAccount = (account: Uint8Array) => unitsOf(account) + cost <= accountUnits;
      return units + cost <= blockUnits && written.every(fitsAccount);
    },
    /** @param computeUnits those it used, of the ones that it asked for */
    take(transaction: Message, written: readonly Uint8Array[], computeUnits: number): void {
      const cost = costOf(transaction, written.length, computeUnits);
      units += cost;
      for (const account of written) {
        unitsByAccount.set(nameOfBytes(account), unitsOf(account) + cost);
      }
    },
  };
}
