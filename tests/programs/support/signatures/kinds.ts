import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ed25519 } from '@noble/curves/ed25519.js';
import { concatBytes, hexToBytes } from '../../../../programs/client/platform/bytes.ts';
import { checkout } from '../../../../programs/tools/artifacts.ts';
import { ABOVE_P, drawOffCurve, littleEndian, ORDER, SMALL_ORDER, torsionPoint } from './points.ts';
import { drawUntil, type Equation, type Signed, type Signers } from './signers.ts';

/** What a verifier may be given, sorted by how it was made. */
interface Kind {
  /** What it varies, besides what is drawn. */
  readonly variants: number;
  make(variant: number): Signed;
}

/** Section 7.1 of the RFC: secret key, public key, message and signature of each test. */
export const RFC_8032 = readFileSync(
  join(checkout, 'programs/escrow/tests/signatures/rfc8032.txt'),
  'utf8',
)
  .trimEnd()
  .split('\n')
  .map((line) => {
    const [secret, key, message, signature] = line
      .replace('-', '')
      .split(' ')
      .map((part) => hexToBytes(part));
    if (!secret || !key || !message || !signature) throw new Error(`incomplete: ${line}`);
    return { secret, key, message, signature };
  });

const TORSIONS = [1, 2, 3, 4, 5, 6, 7];
const CANCELS = { cancels: true };
const STAYS = { cancels: false };

/** Signatures of every kind that somebody can make who may choose keys, nonces and messages. */
export const createKinds = (signers: Signers) => ({
  ...byOwners(signers),
  ...withMixedPoints(signers),
  ...withSmallOrder(signers),
  ...byNoOwner(signers),
});

function byOwners({ honest, random, messageOf }: Signers) {
  const honestly = (change: (signed: Equation) => Partial<Signed>) => {
    const signed = honest();
    return { ...signed, ...change(signed) };
  };
  return {
    honest: kind([0], honest),
    'by a key of RFC 8032': kind(RFC_8032, ({ secret, key }) => {
      const commitment = random.bytes(32);
      return { key, commitment, signature: ed25519.sign(messageOf(commitment), secret) };
    }),
    'with a multiple of the order added to S': kind(numbers(15), (multiple) =>
      honestly((signed) => withS(signed, signed.s + BigInt(multiple + 1) * ORDER)),
    ),
    'with a high bit of S': kind([253n, 254n, 255n], (bit) =>
      honestly((signed) => withS(signed, signed.s | (1n << bit))),
    ),
    'with one bit flipped': kind(numbers(128), (byte) =>
      honestly(({ signature, key, commitment }) => {
        const flipped = concatBytes(signature, key, commitment);
        flipped[byte] = (flipped[byte] ?? 0) ^ (1 << random.below(8));
        return {
          signature: flipped.slice(0, 64),
          key: flipped.slice(64, 96),
          commitment: flipped.slice(96),
        };
      }),
    ),
    'of another message': kind([0], () => honestly(() => ({ commitment: random.bytes(32) }))),
    'by another key': kind([0], () => honestly(() => ({ key: honest().key }))),
  };
}

function withMixedPoints({ mixed, random }: Signers) {
  return {
    'by a mixed key whose small part vanishes': kind(TORSIONS, (torsion) =>
      drawUntil(CANCELS, torsion, () => [mixed(torsion, 0), 0]),
    ),
    'by a mixed key whose small part stays': kind(TORSIONS, (torsion) =>
      drawUntil(STAYS, torsion, () => [mixed(torsion, 0), 0]),
    ),
    'with a mixed R': kind(TORSIONS, (torsion) => mixed(0, torsion)),
    'with a mixed R that a mixed key cancels': kind([1, 3, 5, 7], (torsion) =>
      drawUntil(CANCELS, torsion, () => {
        const ofNonce = 1 + random.below(7);
        return [mixed(torsion, ofNonce), ofNonce];
      }),
    ),
  };
}

function withSmallOrder({ withoutNonce, withoutSecret, withNeither, random }: Signers) {
  return {
    'by a key of small order': kind(SMALL_ORDER, ({ bytes, torsion }) =>
      drawUntil(CANCELS, torsion, () => [withoutSecret(bytes), 0]),
    ),
    'with an R of small order': kind(SMALL_ORDER, ({ bytes }) => withoutNonce(bytes)),
    'with an R of small order that a mixed key cancels': kind([1, 3, 5, 7], (torsion) =>
      drawUntil(CANCELS, torsion, () => {
        const ofNonce = 1 + random.below(7);
        return [withoutNonce(torsionPoint(ofNonce).toBytes(), torsion), ofNonce];
      }),
    ),
    'with a key and an R of small order': kind(SMALL_ORDER, ({ bytes, torsion }) =>
      drawUntil(CANCELS, torsion, () => {
        const ofNonce = random.below(8);
        return [withNeither(bytes, torsionPoint(ofNonce).toBytes()), ofNonce];
      }),
    ),
  };
}

function byNoOwner({ honest, withoutNonce, withoutSecret, random }: Signers) {
  return {
    'by a key with y of p or more': kind(ABOVE_P, withoutSecret),
    'with an R with y of p or more': kind(ABOVE_P, (r) => withoutNonce(r)),
    'by a key off the curve': kind([0], () => withoutSecret(drawOffCurve(random))),
    'with an R off the curve': kind([0], () => withoutNonce(drawOffCurve(random))),
    'all zero': kind([0], () => ({ ...honest(), signature: new Uint8Array(64) })),
    'of random bytes': kind([0], () => ({
      ...{ key: random.bytes(32), commitment: random.bytes(32), signature: random.bytes(64) },
    })),
  };
}

/** A kind with a variant for each of the values. */
function kind<Value>(values: readonly Value[], make: (value: Value) => Signed): Kind {
  return {
    variants: values.length,
    make(variant) {
      if (!(variant in values)) throw new RangeError(`there is no variant ${variant}`);
      return make(values[variant] as Value);
    },
  };
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

const withS = ({ signature }: Signed, s: bigint) => ({
  signature: concatBytes(signature.subarray(0, 32), littleEndian(s)),
});
