import { describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import { Keypair, PublicKey } from '@solana/web3.js';
import { isOnCurve } from '../../programs/client/addresses.ts';
import { decodeBase58, encodeBase58 } from '../../programs/client/longBase58.ts';
import * as browser from '../../programs/client/platform/browser.ts';
import { hexToBytes } from '../../programs/client/platform/bytes.ts';
import * as node from '../../programs/client/platform/node.ts';
import { createRandom } from '../../testing/random.ts';

const random = createRandom();
const P = 2n ** 255n - 19n;

/** Signatures of bad intent are compared in tests/programs/signatures.test.ts. */
describe(`ed25519 on Node and in browsers (seed ${random.seed})`, () => {
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
});

describe(`base58 of long data (seed ${random.seed})`, () => {
  it('is that of @scure/base both ways, and so is what it refuses', () => {
    for (let round = 0; round < 300; round += 1) {
      const bytes = random.bytes(random.below(500));
      bytes.fill(0, 0, random.below(4) === 0 ? random.below(bytes.length + 1) : 0);
      const text = base58.encode(bytes);
      expect(encodeBase58(bytes)).toBe(text);
      expect(decodeBase58(text)).toEqual(bytes);
      const letter = ['0', 'O', 'I', 'l', ' ', 'é'][random.below(6)] ?? '';
      const at = random.below(text.length + 1);
      const wrong = text.slice(0, at) + letter + text.slice(at);
      expect(() => base58.decode(wrong)).toThrow('Unknown letter');
      expect(() => decodeBase58(wrong)).toThrow('Unknown letter');
    }
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

describe('a public key in browsers', () => {
  it('has the bytes and the text of web3.js’s key', () => {
    for (const bytes of [
      new Uint8Array(32),
      ...Array.from({ length: 20 }, () => random.bytes(32)),
    ]) {
      const [ours, theirs] = [new browser.PublicKey(bytes), new PublicKey(bytes)];
      expect(ours.toBase58()).toBe(theirs.toBase58());
      expect(`${ours}`).toBe(`${theirs}`);
      expect(JSON.stringify(ours)).toBe(JSON.stringify(theirs));
      expect(ours.toBytes()).toEqual(new Uint8Array(theirs.toBytes()));
      expect(new browser.PublicKey(theirs.toBase58()).equals(theirs)).toBe(true);
      expect(ours.equals(new PublicKey(random.bytes(32)))).toBe(false);
    }
    expect(browser.PublicKey.default.equals(PublicKey.default)).toBe(true);
  });

  it('refuses an invalid key', () => {
    for (const wrong of ['', 'abc', '0'.repeat(44), new Uint8Array(31), new Uint8Array(33)]) {
      expect(() => new browser.PublicKey(wrong)).toThrow();
    }
  });

  it('copies its bytes', () => {
    const bytes = random.bytes(32);
    const key = new browser.PublicKey(bytes);
    const spelling = key.toBase58();
    bytes.fill(0);
    key.toBytes().fill(0);
    expect(new browser.PublicKey(key.toBytes()).toBase58()).toBe(spelling);
  });
});

function littleEndian(value: bigint): Uint8Array {
  return hexToBytes(value.toString(16).padStart(64, '0')).reverse();
}
