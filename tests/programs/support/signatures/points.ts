import { hash } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import {
  concatBytes,
  hexToBytes,
  readLittleEndian,
} from '../../../../programs/client/platform/bytes.ts';
import type { Random } from '../../../../testing/random.ts';

/** Points and numbers of ed25519, in all their encodings. */

const { Point } = ed25519;
type CurvePoint = InstanceType<typeof Point>;
export const ORDER = Point.Fn.ORDER;
const P = 2n ** 255n - 19n;
const SIGN_AT = 31;
const SIGN = 0x80;

const ORDER_8 = Point.fromBytes(
  hexToBytes('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa'),
  true,
);
/** The eight points whose order divides 8: the multiples of one of them. */
const TORSION: readonly CurvePoint[] = Array.from({ length: 8 }, (_, multiple) =>
  ORDER_8.multiplyUnsafe(BigInt(multiple)),
);

/** @param torsion its number, from 0 for the identity to 7 */
export function torsionPoint(torsion: number): CurvePoint {
  const point = TORSION[torsion];
  if (point === undefined) throw new RangeError(`there is no point ${torsion} of small order`);
  return point;
}

/** The number of the point of small order that a scalar makes of another. */
export const torsionTimes = (torsion: number, scalar: bigint): number =>
  Number((BigInt(torsion) * scalar) % 8n);

export const littleEndian = (value: bigint): Uint8Array =>
  hexToBytes(value.toString(16).padStart(64, '0')).reverse();

const withOtherSign = (bytes: Uint8Array): Uint8Array =>
  bytes.with(SIGN_AT, (bytes[SIGN_AT] ?? 0) ^ SIGN);

interface Encoding {
  readonly bytes: Uint8Array;
  /** The number of its point. */
  readonly torsion: number;
}

/** The points of small order in every encoding: also with y + p, and with the sign of a zero. */
export const SMALL_ORDER: readonly Encoding[] = TORSION.flatMap((point, torsion) => {
  const bytes = point.toBytes();
  const forms = [bytes];
  const { x, y } = point.toAffine();
  if (y + P < 2n ** 255n) {
    const other = littleEndian(y + P);
    other[SIGN_AT] = (other[SIGN_AT] ?? 0) | ((bytes[SIGN_AT] ?? 0) & SIGN);
    forms.push(other);
  }
  if (x === 0n) forms.push(...forms.map(withOtherSign));
  return forms.map((form) => ({ bytes: form, torsion }));
});

/** Encodings whose y is not below p, but for those of small order. */
export const ABOVE_P: readonly Uint8Array[] = Array.from({ length: 17 }, (_, at) =>
  littleEndian(P + 2n + BigInt(at)),
).flatMap((bytes) => [bytes, withOtherSign(bytes)]);

/** What a signature's equation multiplies the key with. */
export const challengeOf = (r: Uint8Array, key: Uint8Array, message: Uint8Array): bigint =>
  readLittleEndian(hash('sha512', concatBytes(r, key, message), 'buffer')) % ORDER;

/** A secret scalar and its point. */
export interface KeyPair {
  readonly secret: bigint;
  readonly point: CurvePoint;
}

/**
 * Key pairs without end. Each is the one before and another step on, since adding points takes a
 * tenth of the time of a multiplication.
 */
export function createKeyPairs(random: Random): () => KeyPair {
  const draw = (): KeyPair => {
    const secret = readLittleEndian(random.bytes(32)) % ORDER;
    return { secret, point: Point.BASE.multiply(secret) };
  };
  const step = draw();
  let last = draw();
  return () => {
    last = {
      secret: (last.secret + step.secret) % ORDER,
      point: last.point.add(step.point),
    };
    return last;
  };
}

/** Bytes that are no point. */
export function drawOffCurve(random: Random): Uint8Array {
  for (;;) {
    const bytes = random.bytes(32);
    try {
      Point.fromBytes(bytes, true);
    } catch {
      return bytes;
    }
  }
}
