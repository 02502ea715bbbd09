import { describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { createFeePayers } from '../../programs/client/sender/sender.ts';
import type { Signer } from '../../programs/client/sender/signer.ts';

const NONE: ReadonlySet<Signer> = new Set();
const keys = [Keypair.generate(), Keypair.generate(), Keypair.generate()] as const;

function createTurns() {
  let now = 0;
  const payers = createFeePayers({ keys, nowMs: () => now });
  const counts = (turns: number) => {
    const drawn = Array.from({ length: turns }, () => payers.next(NONE));
    return keys.map((key) => drawn.filter((one) => one === key).length);
  };
  const advanceMs = (ms: number) => {
    now += ms;
  };
  return { payers, counts, advanceMs };
}

describe('fee payers', () => {
  it('have the first one pay', () => {
    expect(createTurns().counts(30)).toEqual([30, 0, 0]);
  });

  it('have the next one pay for a minute when the first could not', () => {
    const { payers, counts, advanceMs } = createTurns();
    expect(payers.passOver(keys[0])).toBe(true);
    expect(payers.passOver(keys[0])).toBe(false);
    expect(counts(30)).toEqual([0, 30, 0]);
    advanceMs(60_000);
    expect(counts(30)).toEqual([30, 0, 0]);
  });

  it('are reported once a minute while they cannot pay', () => {
    const { payers, advanceMs } = createTurns();
    const results = Array.from({ length: 12 }, () => {
      advanceMs(15_000);
      return payers.passOver(keys[0]);
    });
    expect(results.filter((isNews) => isNews)).toHaveLength(3);
  });

  it('are all tried before none is left', () => {
    const { payers } = createTurns();
    for (const key of keys) payers.passOver(key);
    const tried = new Set<Signer>();
    for (let next = payers.next(tried); next; next = payers.next(tried)) tried.add(next);
    expect(tried.size).toBe(keys.length);
  });
});
