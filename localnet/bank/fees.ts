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

const SET_COMPUTE_UNIT_LIMIT = 2;
const SET_COMPUTE_UNIT_PRICE = 3;

const idOf = (address: string): string => nameOfBytes(base58.decode(address));
const COMPUTE_BUDGET = idOf('ComputeBudget111111111111111111111111111111');
const PRECOMPILES_BUILTIN = [
  'Ed25519SigVerify111111111111111111111111111',
  'KeccakSecp256k11111111111111111111111111111',
].map(idOf);
/** The newest precompile gets as many units as a program outside the system's. */
const PRECOMPILES = new Set([
  ...PRECOMPILES_BUILTIN,
  idOf('Secp256r1SigVerify1111111111111111111111111'),
]);
const BUILTINS = new Set([
  COMPUTE_BUDGET,
  ...PRECOMPILES_BUILTIN,
  ...[
    '11111111111111111111111111111111',
    'BPFLoaderUpgradeab1e11111111111111111111111',
    'BPFLoader1111111111111111111111111111111111',
    'BPFLoader2111111111111111111111111111111111',
    'LoaderV411111111111111111111111111111111111',
  ].map(idOf),
]);

/** The fee of a transaction in lamports, for success and failure alike. */
export function feeOf({ version, header, keys, instructions, config }: Message): bigint {
  let signatures = header.numRequiredSignatures;
  let unitsDefault = 0;
  let unitsLimit: number | undefined;
  let microLamports = 0n;
  for (const { programIdIndex, data } of instructions) {
    const program = nameOfBytes(keys[programIdIndex] as Uint8Array);
    unitsDefault += BUILTINS.has(program) ? COMPUTE_UNITS_BUILTIN : COMPUTE_UNITS_DEFAULT;
    // A precompile's first byte is the number of its signatures.
    if (PRECOMPILES.has(program)) signatures += data[0] ?? 0;
    // A message of version 1 says itself what it pays, and these instructions do nothing.
    if (program !== COMPUTE_BUDGET || version === 1) continue;
    const view = new DataView(data.buffer, data.byteOffset, data.length);
    if (data[0] === SET_COMPUTE_UNIT_LIMIT && data.length >= 5)
      unitsLimit = view.getUint32(1, true);
    if (data[0] === SET_COMPUTE_UNIT_PRICE && data.length >= 9) {
      microLamports = view.getBigUint64(1, true);
    }
  }
  const units = BigInt(Math.min(unitsLimit ?? unitsDefault, COMPUTE_UNITS_MAX));
  const priority =
    config.priorityFeeLamports ??
    (units * microLamports + MICRO_LAMPORTS_PER_LAMPORT - 1n) / MICRO_LAMPORTS_PER_LAMPORT;
  const fee = BigInt(signatures) * LAMPORTS_PER_SIGNATURE + priority;
  return fee > LAMPORTS_MAX ? LAMPORTS_MAX : fee;
}
