import { concatBytes } from '../../../../programs/client/platform/bytes.ts';
import type { Random } from '../../../../testing/random.ts';
import {
  challengeOf,
  createKeyPairs,
  type KeyPair,
  littleEndian,
  ORDER,
  torsionPoint,
  torsionTimes,
} from './points.ts';

/** A signature of a proof, whose request commitment makes its message another than all others. */
export interface Signed {
  readonly key: Uint8Array;
  readonly commitment: Uint8Array;
  readonly signature: Uint8Array;
}

/** What its equation consists of. */
export interface Equation extends Signed {
  readonly s: bigint;
  readonly challenge: bigint;
}

/** Signs as owners of keys and others can. */
export interface Signers {
  readonly random: Random;
  readonly messageOf: (commitment: Uint8Array) => Uint8Array;
  nextPair(): KeyPair;
  /** By a key and a nonce, with points of small order added to either. */
  mixed(keyTorsion: number, nonceTorsion: number): Equation;
  honest(): Equation;
  /** With R alone, which is no point or one of small order. */
  withoutNonce(r: Uint8Array, keyTorsion?: number): Equation;
  /** By a key that is no point or one of small order. */
  withoutSecret(key: Uint8Array): Equation;
  withNeither(key: Uint8Array, r: Uint8Array): Equation;
}

/** @param messageOf what the key signs for a proof with this commitment, 32 bytes */
export function createSigners(random: Random, messageOf: Signers['messageOf']): Signers {
  const nextPair = createKeyPairs(random);
  const sign = (key: Uint8Array, secret: bigint, r: Uint8Array, nonce: bigint): Equation => {
    const commitment = random.bytes(32);
    const challenge = challengeOf(r, key, messageOf(commitment));
    const s = (nonce + challenge * secret) % ORDER;
    return { key, commitment, signature: concatBytes(r, littleEndian(s)), s, challenge };
  };
  const mixed: Signers['mixed'] = (keyTorsion, nonceTorsion) => {
    const [owner, nonce] = [nextPair(), nextPair()];
    const [key, r] = [encodeWith(owner, keyTorsion), encodeWith(nonce, nonceTorsion)];
    return sign(key, owner.secret, r, nonce.secret);
  };
  return {
    random,
    messageOf,
    nextPair,
    mixed,
    honest: () => mixed(0, 0),
    withoutNonce(r, keyTorsion = 0) {
      const owner = nextPair();
      return sign(encodeWith(owner, keyTorsion), owner.secret, r, 0n);
    },
    withoutSecret(key) {
      const nonce = nextPair();
      return sign(key, 0n, nonce.point.toBytes(), nonce.secret);
    },
    withNeither: (key, r) => sign(key, 0n, r, 0n),
  };
}

const encodeWith = ({ point }: KeyPair, torsion: number): Uint8Array =>
  (torsion === 0 ? point : point.add(torsionPoint(torsion))).toBytes();

/**
 * Draws until the parts of small order in k·A and R cancel each other, or until they do not.
 *
 * @param draw the signature, and the part that its R has
 */
export function drawUntil(
  { cancels }: { cancels: boolean },
  keyTorsion: number,
  draw: () => readonly [Equation, nonceTorsion: number],
): Equation {
  for (;;) {
    const [signed, nonceTorsion] = draw();
    const left = (torsionTimes(keyTorsion, signed.challenge) + nonceTorsion) % 8;
    if ((left === 0) === cancels) return signed;
  }
}
