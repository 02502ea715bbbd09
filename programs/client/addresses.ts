import { PublicKey, sha256 } from '#platform';
import { IDL } from './codec.ts';
import { SEEDS } from './generated/constants.ts';
import { createBoundedCache, lookUp } from './keys.ts';
import { bytesToHex, concatBytes, readLittleEndian, utf8 } from './platform/bytes.ts';

export const UPGRADEABLE_LOADER = new PublicKey('BPFLoaderUpgradeab1e11111111111111111111111');

/** The program's address in this package's own deployment. */
export const PROGRAM_ID = new PublicKey(IDL.address);

export type Addresses = ReturnType<typeof derive>;

const JOB_SEED = utf8(SEEDS.job);
/** The ledger hashes it behind the seeds of every program's address. */
const ADDRESS_MARKER = utf8('ProgramDerivedAddress');
/** The program takes no other bump of a Job, so that checking its address always costs the same. */
const JOB_BUMP = 255;

/** Deployments in use, one or two in any process. Deriving an address costs half a millisecond. */
const known = new Map<string, Addresses>();
/** The same by the key object, since encoding it costs time. */
const knownByKey = new WeakMap<PublicKey, Addresses>();

/** Wallets, workers, models and jobs in use: each is looked up often. */
const ADDRESSES_KEPT_MAX = 10_000;

export function createAddresses(programId: PublicKey = PROGRAM_ID): Addresses {
  return lookUp(knownByKey, programId, () =>
    lookUp(known, programId.toBase58(), () => derive(programId)),
  );
}

function derive(programId: PublicKey) {
  const find = (seed: string, ...rest: Uint8Array[]): PublicKey =>
    findAddress([utf8(seed), ...rest], programId);
  const kept = createBoundedCache<string, PublicKey>(ADDRESSES_KEPT_MAX);
  const keep = <Found extends PublicKey | undefined>(
    seed: string,
    keys: readonly Uint8Array[],
    search: () => Found,
  ): Found | PublicKey => {
    const name = `${seed} ${keys.map(bytesToHex).join('')}`;
    return lookUp(kept, name, search);
  };
  const findKept = (seed: string, ...keys: Uint8Array[]): PublicKey =>
    keep(seed, keys, () => find(seed, ...keys));
  return {
    programId,
    config: find(SEEDS.config),
    treasury: find(SEEDS.treasury),
    /** Owns the three token accounts; signs for nothing else. */
    vaultAuthority: find(SEEDS.vaultAuthority),
    /** Holds all stablecoin that backs credits and claims. */
    vault: find(SEEDS.vault),
    treasuryVault: find(SEEDS.treasuryVault),
    stakeVault: find(SEEDS.stakeVault),
    /** Signs the program's calls to itself that carry events; signs for nothing else. */
    eventAuthority: find(SEEDS.eventAuthority),
    gateway: (operator: PublicKey): PublicKey => findKept(SEEDS.gateway, operator.toBytes()),
    creditAccount: (wallet: PublicKey): PublicKey =>
      findKept(SEEDS.creditAccount, wallet.toBytes()),
    /** @param modelId the catalog's text id, not an address */
    model: (modelId: string): PublicKey => findKept(SEEDS.model, sha256(utf8(modelId))),
    worker: (authority: PublicKey): PublicKey => findKept(SEEDS.worker, authority.toBytes()),
    /** @param jobId the 16 raw bytes of the job's UUID */
    job: (creditAccount: PublicKey, jobId: Uint8Array): PublicKey =>
      findKept(SEEDS.job, creditAccount.toBytes(), jobId),
    /** The same, or undefined for the half of all ids whose address the program does not take. */
    newJob(creditAccount: PublicKey, jobId: Uint8Array): PublicKey | undefined {
      const keys = [creditAccount.toBytes(), jobId];
      return keep(SEEDS.job, keys, () => createAddress([JOB_SEED, ...keys], JOB_BUMP, programId));
    },
  };
}

const BUMP_MAX = 255;

/** The address of the seeds with the highest possible bump, by the ledger's rule. */
export function findAddress(seeds: readonly Uint8Array[], programId: PublicKey): PublicKey {
  for (let bump = BUMP_MAX; bump >= 0; bump -= 1) {
    const address = createAddress(seeds, bump, programId);
    if (address) return address;
  }
  throw new Error('No bump gives an address for these seeds');
}

/** As `PublicKey.createProgramAddressSync`, but fast and with no error for half of all seeds. */
function createAddress(
  seeds: readonly Uint8Array[],
  bump: number,
  programId: PublicKey,
): PublicKey | undefined {
  const address = sha256(
    concatBytes(...seeds, Uint8Array.of(bump), programId.toBytes(), ADDRESS_MARKER),
  );
  return isOnCurve(address) ? undefined : new PublicKey(address);
}

/** The field of curve25519, and the d of its Edwards form (RFC 8032, section 5.1). */
const P = 2n ** 255n - 19n;
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;
const SIGN_BITS = 255;
const LIMB_BITS = 32n;
const LIMB = (1n << LIMB_BITS) - 1n;

/**
 * Whether the bytes are a point of ed25519, by the ledger's rule. An address that a program derives
 * never is one. Six times as fast as computing the point, since only its existence matters:
 * x² = (y² − 1) / (dy² + 1) has a root or has not.
 *
 * @param bytes 32
 */
export function isOnCurve(bytes: Uint8Array): boolean {
  const y = BigInt.asUintN(SIGN_BITS, readLittleEndian(bytes)) % P;
  const ySquared = (y * y) % P;
  // As good as the quotient, from which it differs by a square.
  return isSquare(((ySquared - 1n + P) * (D * ySquared + 1n)) % P);
}

/** The Jacobi symbol over P by Euclid's algorithm: whether the value is a square modulo P. */
function isSquare(value: bigint): boolean {
  let [numerator, denominator] = [value, P];
  let isNegative = false;
  while (numerator !== 0n) {
    const twos = trailingZeros(numerator);
    numerator >>= BigInt(twos);
    const [low, base] = [Number(numerator & 7n), Number(denominator & 7n)];
    if (twos % 2 === 1 && (base === 3 || base === 5)) isNegative = !isNegative;
    if (low % 4 === 3 && base % 4 === 3) isNegative = !isNegative;
    [numerator, denominator] = [denominator % numerator, numerator];
  }
  return !isNegative;
}

/** Of a number other than 0. */
function trailingZeros(value: bigint): number {
  let zeros = 0;
  let rest = value;
  for (; (rest & LIMB) === 0n; rest >>= LIMB_BITS) zeros += Number(LIMB_BITS);
  const low = Number(rest & LIMB);
  return zeros + 31 - Math.clz32(low & -low);
}

/** Owns every wallet. */
export const SYSTEM_PROGRAM = new PublicKey('11111111111111111111111111111111');
export const TOKEN_PROGRAM = new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
export const ASSOCIATED_TOKEN_PROGRAM = new PublicKey(
  'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
);
