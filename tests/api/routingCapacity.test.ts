import { describe, expect, it } from '@jest/globals';
import { type Capacity, createCapacity, type KnownWorker } from '../../api/workers/capacity.ts';
import { systemTime } from '../../common/wait.ts';
import { knownWorker, MODEL } from './routingWorker.ts';

const none: ReadonlySet<string> = new Set();

function open(...workers: KnownWorker[]): { capacity: Capacity; clock: { nowMs: number } } {
  const clock = { nowMs: 0 };
  const candidates = (model: string) => workers.filter(({ models }) => models.includes(model));
  const capacity = createCapacity({
    candidates,
    time: { ...systemTime, nowMs: () => clock.nowMs },
    random: () => 0,
  });
  return { capacity, clock };
}

const reserve = (capacity: Capacity, wish: Partial<Parameters<Capacity['reserve']>[0]> = {}) =>
  capacity.reserve({ modelAddress: MODEL, except: none, waitMs: 0, ...wish });

describe('worker capacity', () => {
  it('is never exceeded, and each reservation is released once', async () => {
    const worker = knownWorker('a', { capacity: 2 });
    const { capacity } = open(worker);
    const first = await reserve(capacity);
    const second = await reserve(capacity);
    expect(await reserve(capacity)).toBeUndefined();
    first?.release();
    first?.release();
    expect(worker.inFlight).toBe(1);
    expect(await reserve(capacity)).toBeDefined();
    expect(await reserve(capacity)).toBeUndefined();
    expect(second?.worker).toBe(worker);
  });

  it('is granted to waiting requests in their order', async () => {
    const { capacity } = open(knownWorker('a', { capacity: 1 }));
    const held = await reserve(capacity);
    const order: string[] = [];
    const waiting = ['first', 'second'].map(async (name) => {
      const reservation = await reserve(capacity, { waitMs: 60_000 });
      order.push(name);
      reservation?.release();
    });
    expect(capacity.waiting(MODEL)).toBe(2);
    expect(capacity.waiting('another model')).toBe(0);
    held?.release();
    await Promise.all(waiting);
    expect(order).toEqual(['first', 'second']);
    expect(capacity.waiting(MODEL)).toBe(0);
  });

  it('is not reserved for a client that has disconnected', async () => {
    const worker = knownWorker('a', { capacity: 1 });
    const { capacity } = open(worker);
    expect(await reserve(capacity, { signal: AbortSignal.abort() })).toBeUndefined();
    const held = await reserve(capacity);
    const leaving = new AbortController();
    const left = reserve(capacity, { waitMs: 60_000, signal: leaving.signal });
    leaving.abort();
    expect(await left).toBeUndefined();
    held?.release();
    expect(worker.inFlight).toBe(0);
  });

  it('excludes workers that were tried before or do not host the model', async () => {
    const { capacity } = open(knownWorker('a'), knownWorker('b', { models: ['another model'] }));
    expect(await reserve(capacity, { except: new Set(['a']) })).toBeUndefined();
    expect((await reserve(capacity))?.worker.address).toBe('a');
  });

  it("updates, on release, a worker's latency and the duration of its jobs", async () => {
    const worker = knownWorker('a');
    const { capacity, clock } = open(worker);
    for (const [firstTokenMs, jobMs] of [
      [100, 1_000],
      [200, 2_000],
    ] as const) {
      const reservation = await reserve(capacity);
      reservation?.observeFirstToken(firstTokenMs);
      clock.nowMs += jobMs;
      reservation?.succeeded();
      reservation?.release();
    }
    // the newest counts for three tenths
    expect(worker.firstTokens.get(MODEL)?.ms).toBeCloseTo(130);
    expect(worker.firstTokens.has('another model')).toBe(false);
    expect(worker.jobMs).toBeCloseTo(1_300);
  });

  it('goes elsewhere after a failure until the worker delivers a proof', async () => {
    const [failing, other] = [knownWorker('a', { firstTokenMs: 1 }), knownWorker('b')];
    other.firstTokens.set(MODEL, { ms: 50, observedAtMs: 0 });
    const { capacity, clock } = open(failing, other);
    const chosen = async () => {
      const reservation = await reserve(capacity);
      reservation?.release();
      return reservation?.worker.address;
    };
    // given a job that fails, and one given before that ends well afterwards
    const [one, two] = [await reserve(capacity), await reserve(capacity)];
    expect([one?.worker, two?.worker]).toEqual([failing, failing]);
    one?.failed();
    one?.release();
    expect(await chosen()).toBe('b');
    two?.succeeded();
    two?.release();
    expect(await chosen()).toBe('a');
    // given one that finds it busy for three seconds
    const third = await reserve(capacity);
    third?.foundBusy(3_000);
    third?.release();
    expect(await chosen()).toBe('b');
    clock.nowMs += 3_000;
    expect(await chosen()).toBe('a');
  });
});
