import { describe, expect, it } from '@jest/globals';
import { Keypair, PublicKey } from '@solana/web3.js';
import { isOnCurve } from '../../programs/client/platform/curve.ts';
import { createRandom } from '../../testing/random.ts';

const random = createRandom();
const P = 2n ** 255n - 19n;

function encode(y: bigint): Uint8Array {
  return Uint8Array.from(Buffer.from(y.toString(16).padStart(64, '0'), 'hex').reverse());
}

describe(`the curve test (seed ${random.seed})`, () => {
  it('agrees with web3.js on random bytes', () => {
    const found = { on: 0, off: 0 };
    for (let round = 0; round < 2_000; round += 1) {
      const bytes = random.bytes(32);
      expect(isOnCurve(bytes)).toBe(PublicKey.isOnCurve(bytes));
      found[isOnCurve(bytes) ? 'on' : 'off'] += 1;
    }
    // Half of all, give or take seven standard deviations.
    expect(Math.abs(found.on - found.off)).toBeLessThan(320);
  });

  it('accepts every signing key', () => {
    for (let round = 0; round < 200; round += 1) {
      expect(isOnCurve(Keypair.fromSeed(random.bytes(32)).publicKey.toBytes())).toBe(true);
    }
  });

  it('agrees with web3.js at the limits of the field', () => {
    for (let y = 0n; y < 40n; y += 1n) {
      for (const end of [y, P - 1n - y, 2n ** 254n + y, y << 64n, y << 200n]) {
        expect([end, isOnCurve(encode(end))]).toEqual([end, PublicKey.isOnCurve(encode(end))]);
      }
    }
  });

  it('accepts the points with x = 0', () => {
    expect(isOnCurve(encode(1n))).toBe(true);
    expect(isOnCurve(encode(P - 1n))).toBe(true);
  });
});
