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
const BUILTINS = new Set([
  ...[COMPUTE_BUDGET, ED25519, SECP256K1],
  ...[
    '11111111111111111111111111111111',
    'BPFLoaderUpgradeab1e11111111111111111111111',
    'BPFLoader1111111111111111111111111111111111',
    'BPFLoader2111111111111111111111111111111111',
    'LoaderV411111111111111111111111111111111111',
  ].map(idOf),
]);

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
