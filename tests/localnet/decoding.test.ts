import { describe, expect, it } from '@jest/globals';
import { VersionedTransaction } from '@solana/web3.js';
import {
  decodeMessage,
  decodeTransaction,
  isWritable,
  MalformedTransactionError,
} from '../../localnet/wire/transaction.ts';
import { createRandom } from '../../testing/random.ts';
import { encodeCount, encodeDecoded, mutate, randomWire } from './wireForms.ts';

const CASES = 300;
const MUTANTS = 20;
const random = createRandom();
const plain = (keys: readonly { toBytes(): Uint8Array }[]) => keys.map((key) => [...key.toBytes()]);

describe(`transaction bytes (seed ${random.seed})`, () => {
  it('are decoded as web3.js encoded them, and encode to the same bytes again', () => {
    for (let count = 0; count < CASES; count += 1) {
      const wire = randomWire(random);
      const decoded = decodeTransaction(wire);
      const { message, signatures, version } = VersionedTransaction.deserialize(wire);
      expect(decoded.version).toBe(version);
      expect(decoded.header).toEqual(message.header);
      expect(decoded.signatures.map((one) => [...one])).toEqual(signatures.map((one) => [...one]));
      expect(decoded.keys.map((key) => [...key])).toEqual(plain(message.staticAccountKeys));
      expect(Buffer.from(decoded.message)).toEqual(Buffer.from(message.serialize()));
      expect(
        decoded.instructions.map(({ programIdIndex, accounts, data }) => ({
          programIdIndex,
          accountKeyIndexes: [...accounts],
          data: [...data],
        })),
      ).toEqual(message.compiledInstructions.map((one) => ({ ...one, data: [...one.data] })));
      for (let index = 0; index < decoded.keys.length; index += 1) {
        expect(isWritable(decoded, index)).toBe(message.isAccountWritable(index));
      }
      expect(encodeDecoded(decoded).equals(wire)).toBe(true);
      const { wire: _, signatures: __, message: bytes, ...ofMessage } = decoded;
      expect(decodeMessage(bytes)).toEqual(ofMessage);
    }
  });

  it('have at most one encoding, however they are changed', () => {
    let read = 0;
    let wire = randomWire(random);
    for (let count = 0; count < CASES * MUTANTS; count += 1) {
      if (count % MUTANTS === 0) wire = randomWire(random);
      const bytes = mutate(random, wire);
      try {
        expect(encodeDecoded(decodeTransaction(bytes)).equals(bytes)).toBe(true);
        read += 1;
      } catch (error) {
        if (!(error instanceof MalformedTransactionError)) throw error;
      }
    }
    expect(read).toBeGreaterThan(CASES / 2);
  });

  it('are refused when a length prefix is longer than necessary', () => {
    const wire = Buffer.from(randomWire(random));
    const signatures = wire.readUInt8(0);
    const longer = Buffer.concat([Buffer.from([signatures | 0x80, 0]), wire.subarray(1)]);
    expect(() => decodeTransaction(longer)).toThrow(/longer than it need be|too large/);
  });

  it.each([
    ['more than 16 bits', [0xff, 0xff, 0x04], 'too large'],
    ['four bytes', [0xff, 0xff, 0xff, 0x01], 'too long'],
    ['more items than bytes', [...encodeCount(1_000)], 'ends before its end'],
  ])('are refused with the length prefix %s', (_what, count, words) => {
    expect(() => decodeTransaction(Uint8Array.from([...count, 1, 2, 3]))).toThrow(words);
  });
});
