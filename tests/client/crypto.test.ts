import { describe, expect, it } from '@jest/globals';
import { ed25519 } from '@noble/curves/ed25519.js';
import { sha512 } from '@noble/hashes/sha2.js';
import { Keypair, PublicKey } from '@solana/web3.js';
import { concatBytes, hexToBytes, utf8 } from '../../programs/client/platform/bytes.ts';
import * as browser from '../../programs/client/platform/crypto.browser.ts';
import * as node from '../../programs/client/platform/crypto.node.ts';
import {
  hasSmallOrder,
  isOnCurve,
  readLittleEndian,
} from '../../programs/client/platform/curve.ts';
import { createRandom } from '../../testing/random.ts';

const random = createRandom();
const { Point } = ed25519;
const ORDER = Point.Fn.ORDER;
const P = 2n ** 255n - 19n;

const IDENTITY = littleEndian(1n);
const OTHER_IDENTITY = littleEndian(P + 1n);
const ORDER_8 = Point.fromBytes(
  hexToBytes('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa'),
  true,
);
/** Secret scalars of a key and of a signature. */
const [a, r] = [123_456_789n, 987_654_321n];
const KEY = Point.BASE.multiply(a);
const R = Point.BASE.multiply(r).toBytes();
const MESSAGE = utf8('job');

interface Signed {
  readonly key: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}

/** Signatures that somebody with bad intentions can make, and whether they are valid. */
const CASES: readonly (readonly [string, Signed, boolean])[] = [
  ['honest', signed(KEY.toBytes(), R), true],
  ['with S + the order', signed(KEY.toBytes(), R, MESSAGE, ORDER), false],
  ['of the identity, all zero', whole(IDENTITY, IDENTITY, 0n), false],
  ['of the identity', whole(IDENTITY, R, r), false],
  ['of the identity in another spelling', whole(OTHER_IDENTITY, R, r), false],
  ['of the identity with a sign', whole(withSign(IDENTITY), R, r), false],
  ['of a key of order 8', byMultiple(ORDER_8.toBytes(), 0n, true), false],
  ['of a mixed key, the torsion cancelled', byMultiple(mixedKey(), a, true), true],
  ['of a mixed key', byMultiple(mixedKey(), a, false), false],
  ['with a mixed R', signed(KEY.toBytes(), Point.BASE.multiply(r).add(ORDER_8).toBytes()), false],
  ['with R the identity', signed(KEY.toBytes(), IDENTITY, MESSAGE, 0n, 0n), false],
  ['with S = 0', whole(KEY.toBytes(), KEY.negate().toBytes(), 0n), false],
  ['of a key off the curve', whole(littleEndian(2n), R, r), false],
  ['too short', { key: KEY.toBytes(), message: MESSAGE, signature: R }, false],
  ['empty', { key: KEY.toBytes(), message: MESSAGE, signature: new Uint8Array() }, false],
  ['too long', tooLong(), false],
];

describe(`ed25519 on Node and in browsers (seed ${random.seed})`, () => {
  it.each(CASES)(
    'gives the same verdict on a signature %s',
    (_what, { key, message, signature }, valid) => {
      const given = { publicKey: new PublicKey(key), message, signature };
      expect(node.verifySignature(given)).toBe(valid);
      expect(browser.verifySignature(given)).toBe(valid);
    },
  );

  it('signs and verifies the same, and refuses any changed bit', () => {
    for (let round = 0; round < 20; round += 1) {
      const keypair = Keypair.fromSeed(random.bytes(32));
      const message = random.bytes(random.below(200));
      const signature = node.sign(message, keypair);
      expect(browser.sign(message, keypair)).toEqual(signature);
      const given = { publicKey: keypair.publicKey, message, signature };
      const forged = signature.slice();
      const at = random.below(64);
      forged[at] = (forged[at] ?? 0) ^ (1 << random.below(8));
      for (const build of [node, browser]) {
        expect(build.verifySignature(given)).toBe(true);
        expect(build.verifySignature({ ...given, signature: forged })).toBe(false);
      }
    }
  });

  it('hashes the same, and draws the requested number of random bytes', () => {
    const bytes = random.bytes(300);
    expect(new Uint8Array(node.sha256(bytes))).toEqual(browser.sha256(bytes));
    for (const build of [node, browser]) expect(build.randomBytes(12)).toHaveLength(12);
  });

  it('recognizes every point of small order in every encoding', () => {
    for (let multiple = 0n; multiple < 8n; multiple += 1n) {
      const point = ORDER_8.multiplyUnsafe(multiple);
      expect(hasSmallOrder(point.toBytes())).toBe(true);
      const y = readLittleEndian(point.toBytes()) & (2n ** 255n - 1n);
      if (y + P < 2n ** 255n) expect(hasSmallOrder(littleEndian(y + P))).toBe(true);
    }
    expect(hasSmallOrder(KEY.toBytes())).toBe(false);
    expect(hasSmallOrder(mixedKey())).toBe(false);
  });
});

describe('the curve test', () => {
  const agree = (bytes: Uint8Array) =>
    expect([bytes, isOnCurve(bytes)]).toEqual([bytes, PublicKey.isOnCurve(bytes)]);

  it('agrees with web3.js on random bytes and at the limits of the field', () => {
    for (let round = 0; round < 2_000; round += 1) agree(random.bytes(32));
    for (let y = 0n; y < 40n; y += 1n) {
      for (const end of [y, P - 1n - y, 2n ** 254n + y, y << 64n, y << 200n]) {
        agree(littleEndian(end));
      }
    }
  });
});

function littleEndian(value: bigint): Uint8Array {
  return hexToBytes(value.toString(16).padStart(64, '0')).reverse();
}

function withSign(bytes: Uint8Array): Uint8Array {
  return bytes.with(31, 0x80);
}

function challenge(r: Uint8Array, key: Uint8Array, message: Uint8Array): bigint {
  return readLittleEndian(sha512(concatBytes(r, key, message))) % ORDER;
}

function whole(key: Uint8Array, r: Uint8Array, s: bigint, message = MESSAGE): Signed {
  return { key, message, signature: concatBytes(r, littleEndian(s)) };
}

/** What the owner of the scalar `a` would sign with this R. */
function signed(
  key: Uint8Array,
  rBytes: Uint8Array,
  message = MESSAGE,
  more = 0n,
  nonce = r,
): Signed {
  const s = (nonce + challenge(rBytes, key, message) * a) % ORDER;
  return whole(key, rBytes, s + more, message);
}

function mixedKey(): Uint8Array {
  return KEY.add(ORDER_8).toBytes();
}

/** A message whose challenge is a multiple of eight, or is not: then the torsion shows. */
function byMultiple(key: Uint8Array, scalar: bigint, isMultiple: boolean): Signed {
  for (let round = 0; ; round += 1) {
    const message = utf8(`message ${round}`);
    const k = challenge(R, key, message);
    if ((k % 8n === 0n) === isMultiple) return whole(key, R, (r + k * scalar) % ORDER, message);
  }
}

function tooLong(): Signed {
  const { key, message, signature } = signed(KEY.toBytes(), R);
  return { key, message, signature: concatBytes(signature, Uint8Array.of(0)) };
}
