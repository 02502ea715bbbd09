import { describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { createFeePayers, createLaneQueue } from '../../programs/client/sender/sender.ts';
import type { Signer } from '../../programs/client/sender/signer.ts';

/** Work that ends when the test says so, and the order in which it began. */
function createLine(limit: number, urgentLanes?: readonly string[]) {
  const queue = createLaneQueue({ limit, ...(urgentLanes && { urgentLanes }), nowMs: () => 0 });
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const taken: Promise<void>[] = [];

  async function endNext(): Promise<void> {
    ends.shift()?.();
    // What comes next begins some microtasks later.
    await new Promise((resolve) => setImmediate(resolve));
  }

  return {
    begun,
    taken,
    wait(lane: string, name: string) {
      const end = Promise.withResolvers<void>();
      const work = () => {
        begun.push(name);
        ends.push(end.resolve);
        return end.promise;
      };
      taken.push(queue.run(lane, work));
    },
    endNext,
    async endAll() {
      while (ends.length > 0) await endNext();
      await Promise.all(taken);
    },
  };
}

describe('the lane queue', () => {
  it('runs at most its maximum at a time', async () => {
    const line = createLine(2);
    for (const name of ['a', 'b', 'c', 'd']) line.wait('lane', name);
    expect(line.begun).toEqual(['a', 'b']);
    await line.endNext();
    expect(line.begun).toEqual(['a', 'b', 'c']);
    await line.endAll();
    expect(line.begun).toEqual(['a', 'b', 'c', 'd']);
  });

  it('alternates between lanes and keeps the order within each', async () => {
    const line = createLine(1);
    line.wait('first', 'running');
    for (const name of ['a1', 'a2', 'a3']) line.wait('a', name);
    for (const name of ['b1', 'b2']) line.wait('b', name);
    await line.endAll();
    expect(line.begun).toEqual(['running', 'a1', 'b1', 'a2', 'b2', 'a3']);
  });

  it('runs urgent lanes first, in alternation', async () => {
    const line = createLine(1, ['settlements', 'exits']);
    line.wait('locks', 'running');
    line.wait('locks', 'lock');
    for (const name of ['settlement 1', 'settlement 2']) line.wait('settlements', name);
    line.wait('exits', 'exit');
    await line.endNext();
    line.wait('settlements', 'settlement 3');
    await line.endAll();
    expect(line.begun).toEqual([
      ...['running', 'settlement 1', 'exit', 'settlement 2', 'settlement 3', 'lock'],
    ]);
  });

  it('returns how long the first item of a lane has waited', async () => {
    let now = 0;
    const queue = createLaneQueue({ limit: 1, nowMs: () => now });
    const running = Promise.withResolvers<void>();
    const taken = [queue.run('a', () => running.promise)];
    expect(queue.waitedMs('a')).toBe(0);
    taken.push(queue.run('a', async () => expect(queue.waitedMs('a')).toBe(40)));
    now = 60;
    taken.push(queue.run('a', async () => expect(queue.waitedMs('a')).toBe(0)));
    now = 100;
    expect([queue.waitedMs('a'), queue.waitedMs('b')]).toEqual([100, 0]);
    running.resolve();
    await Promise.all(taken);
    expect(queue.waitedMs('a')).toBe(0);
  });

  it('continues after failed work', async () => {
    const queue = createLaneQueue({ limit: 1, nowMs: () => 0 });
    await expect(queue.run('lane', () => Promise.reject(new Error('failed')))).rejects.toThrow();
    expect(await queue.run('lane', async () => 'done')).toBe('done');
  });
});

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
