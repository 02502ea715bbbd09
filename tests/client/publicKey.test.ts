import { describe, expect, it } from '@jest/globals';
import { PublicKey as Web3Key } from '@solana/web3.js';
import { PublicKey } from '../../programs/client/platform/publicKey.browser.ts';
import { createRandom } from '../../testing/random.ts';

const random = createRandom();

describe(`a public key in browsers (seed ${random.seed})`, () => {
  it('has the bytes and the text of web3.js’s key', () => {
    for (const bytes of [
      new Uint8Array(32),
      ...Array.from({ length: 20 }, () => random.bytes(32)),
    ]) {
      const [ours, theirs] = [new PublicKey(bytes), new Web3Key(bytes)];
      expect(ours.toBase58()).toBe(theirs.toBase58());
      expect(`${ours}`).toBe(`${theirs}`);
      expect(JSON.stringify(ours)).toBe(JSON.stringify(theirs));
      expect(ours.toBytes()).toEqual(new Uint8Array(theirs.toBytes()));
      expect(new PublicKey(theirs.toBase58()).equals(theirs)).toBe(true);
      expect(ours.equals(new Web3Key(random.bytes(32)))).toBe(false);
    }
    expect(PublicKey.default.equals(Web3Key.default)).toBe(true);
  });

  it('refuses an invalid key', () => {
    for (const wrong of ['', 'abc', '0'.repeat(44), new Uint8Array(31), new Uint8Array(33)]) {
      expect(() => new PublicKey(wrong)).toThrow();
    }
  });

  it('copies its bytes', () => {
    const bytes = random.bytes(32);
    const key = new PublicKey(bytes);
    const spelling = key.toBase58();
    bytes.fill(0);
    key.toBytes().fill(0);
    expect(new PublicKey(key.toBytes()).toBase58()).toBe(spelling);
  });
});
