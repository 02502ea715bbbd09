import { describe, expect, it } from '@jest/globals';
import { PublicKey } from '@solana/web3.js';
import { createAddresses, PROGRAM_ID } from '../../programs/client/addresses.ts';
import {
  createJobId,
  createJobIds,
  formatJobId,
  jobIdTimeMs,
} from '../../programs/client/jobId.ts';
import { createRandom } from '../../testing/random.ts';

const random = createRandom();
const creditAccount = new PublicKey(random.bytes(32));
let nowMs = 1_800_000_000_000;

function make(ms: number) {
  return createJobId({ nowMs: ms, creditAccount, randomBytes: random.bytes });
}

function makeLater() {
  nowMs += 1;
  return make(nowMs);
}

describe(`job ids (seed ${random.seed})`, () => {
  it('are UUIDs of version 7 that carry the ledger’s milliseconds [jobs.ids]', () => {
    const { bytes } = makeLater();
    expect(bytes).toHaveLength(16);
    expect(jobIdTimeMs(bytes)).toBe(nowMs);
    expect((bytes[6] as number) >> 4).toBe(7);
    expect((bytes[8] as number) >> 6).toBe(2);
  });

  it('follow the clock of their own ledger, where another one is ahead', () => {
    makeLater();
    const createOther = createJobIds();
    const behindMs = nowMs - 3_000;
    expect(jobIdTimeMs(createOther({ nowMs: behindMs, creditAccount }).bytes)).toBe(behindMs);
    expect(jobIdTimeMs(make(behindMs).bytes)).toBe(nowMs);
  });

  it('have an address with bump 255, equal to that of the address functions', () => {
    for (let round = 0; round < 20; round += 1) {
      const { bytes, address } = makeLater();
      const seeds = [Buffer.from('job'), creditAccount.toBytes(), bytes];
      expect(PublicKey.findProgramAddressSync(seeds, PROGRAM_ID)).toEqual([address, 255]);
      expect(createAddresses().job(creditAccount, bytes)).toEqual(address);
    }
  });

  it('increase within a millisecond, and while the clock stops or falls back', () => {
    const texts = [0, 0, 0, -1, -400, 0, 1].map((step) => formatJobId(make(nowMs + step).bytes));
    expect(texts.toSorted()).toEqual(texts);
    expect(new Set(texts).size).toBe(texts.length);
  });

  it('follow a clock that was set back further', () => {
    const { bytes } = make(nowMs - 60_000);
    expect(jobIdTimeMs(bytes)).toBe(nowMs - 60_000);
  });

  it('carry any time of 48 bits, and no other', () => {
    for (const ms of [0, 2 ** 48 - 1]) expect(jobIdTimeMs(make(ms).bytes)).toBe(ms);
    for (const ms of [-1, 2 ** 48, Number.NaN]) expect(() => make(ms)).toThrow(RangeError);
  });

  it('are random up to their last byte', () => {
    const lastBytes = Array.from({ length: 20 }, () => makeLater().bytes[15]);
    expect(new Set(lastBytes).size).toBeGreaterThan(5);
  });

  it('fail after 128 draws when the source of randomness is broken', () => {
    const bytesUntilRefused = Array.from({ length: 32 }, (_, byte) => {
      let drawnBytes = 0;
      const randomBytes = (size: number) => {
        drawnBytes += size;
        return new Uint8Array(size).fill(byte);
      };
      try {
        createJobId({ nowMs, creditAccount, randomBytes });
        return undefined;
      } catch {
        return drawnBytes;
      }
    });
    expect(new Set(bytesUntilRefused)).toEqual(new Set([undefined, 128 * 8]));
  });
});
