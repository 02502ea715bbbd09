import { hexToBytes, startsWithBytes, viewOf } from './bytes.ts';

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

const WORD_BYTES = 8;

/** @param bytes a multiple of eight */
export function readLittleEndian(bytes: Uint8Array): bigint {
  const view = viewOf(bytes);
  let value = 0n;
  for (let at = bytes.length - WORD_BYTES; at >= 0; at -= WORD_BYTES) {
    value = (value << 64n) | view.getBigUint64(at, true);
  }
  return value;
}

/** The y of every point of small order, in each of its encodings, without the sign. */
const SMALL_ORDER_YS = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
].map(hexToBytes);
const LAST = 31;

/**
 * Whether the first 32 bytes are a point of ed25519 whose order divides eight. With such a key, one
 * signature may fit many messages.
 */
export function hasSmallOrder(bytes: Uint8Array): boolean {
  const lastOfY = (bytes[LAST] ?? 0) & 0x7f;
  return SMALL_ORDER_YS.some(
    (y) => y[LAST] === lastOfY && startsWithBytes(bytes, y.subarray(0, LAST)),
  );
}
