import { describe, expect, it } from '@jest/globals';
import { createSlots, type Slots } from '../../api/workers/capacity.ts';
import type { KnownWorker } from '../../api/workers/worker.ts';
import { knownWorker, MODEL } from './routingWorker.ts';

const none: ReadonlySet<string> = new Set();

function open(...workers: KnownWorker[]): { slots: Slots; clock: { nowMs: number } } {
  const clock = { nowMs: 0 };
  const candidates = (model: string) => workers.filter(({ models }) => models.includes(model));
  const slots = createSlots({ candidates, nowMs: () => clock.nowMs, random: () => 0 });
  return { slots, clock };
}

const reserve = (slots: Slots, wish: Partial<Parameters<Slots['reserve']>[0]> = {}) =>
  slots.reserve({ modelAddress: MODEL, except: none, waitMs: 0, ...wish });

describe('slots', () => {
  it('are never more than a worker has, and each comes back once', async () => {
    const worker = knownWorker('a', { slots: 2 });
    const { slots } = open(worker);
    const first = await reserve(slots);
    const second = await reserve(slots);
    expect(await reserve(slots)).toBeUndefined();
    first?.release();
    first?.release();
    expect(worker.inFlight).toBe(1);
    expect(await reserve(slots)).toBeDefined();
    expect(await reserve(slots)).toBeUndefined();
    expect(second?.worker).toBe(worker);
  });

  it('come free to those who wait in the order they came', async () => {
    const { slots } = open(knownWorker('a', { slots: 1 }));
    const held = await reserve(slots);
    const order: string[] = [];
    const waiting = ['first', 'second'].map(async (name) => {
      const slot = await reserve(slots, { waitMs: 60_000 });
      order.push(name);
      slot?.release();
    });
    expect(slots.waiting(MODEL)).toBe(2);
    expect(slots.waiting('another model')).toBe(0);
    held?.release();
    await Promise.all(waiting);
    expect(order).toEqual(['first', 'second']);
    expect(slots.waiting(MODEL)).toBe(0);
  });

  it('are waited for no longer than wanted', async () => {
    const { slots } = open(knownWorker('a', { slots: 0 }));
    expect(await reserve(slots, { waitMs: 10 })).toBeUndefined();
    expect(slots.waiting(MODEL)).toBe(0);
  });

  it('are not taken for somebody who has left', async () => {
    const worker = knownWorker('a', { slots: 1 });
    const { slots } = open(worker);
    expect(await reserve(slots, { signal: AbortSignal.abort() })).toBeUndefined();
    const held = await reserve(slots);
    const leaving = new AbortController();
    const left = reserve(slots, { waitMs: 60_000, signal: leaving.signal });
    leaving.abort();
    expect(await left).toBeUndefined();
    held?.release();
    expect(worker.inFlight).toBe(0);
  });

  it('are not at a worker that was asked before, or that does not host the model', async () => {
    const { slots } = open(knownWorker('a'), knownWorker('b', { models: ['another model'] }));
    expect(await reserve(slots, { except: new Set(['a']) })).toBeUndefined();
    expect((await reserve(slots))?.worker.address).toBe('a');
  });

  it('teach how quick a worker is with the model, and how long its jobs take', async () => {
    const worker = knownWorker('a');
    const { slots, clock } = open(worker);
    for (const [firstTokenMs, jobMs] of [
      [100, 1_000],
      [200, 2_000],
    ] as const) {
      const slot = await reserve(slots);
      slot?.observeFirstToken(firstTokenMs);
      clock.nowMs += jobMs;
      slot?.succeeded();
      slot?.release();
    }
    // the newest counts for three tenths
    expect(worker.firstTokens.get(MODEL)?.ms).toBeCloseTo(130);
    expect(worker.firstTokens.has('another model')).toBe(false);
    expect(worker.jobMs).toBeCloseTo(1_300);
  });

  it('are offered elsewhere after a failure, until the worker has proven itself', async () => {
    const [failing, other] = [knownWorker('a', { firstTokenMs: 1 }), knownWorker('b')];
    other.firstTokens.set(MODEL, { ms: 50, observedAtMs: 0 });
    const { slots, clock } = open(failing, other);
    const chosen = async () => {
      const slot = await reserve(slots);
      slot?.release();
      return slot?.worker.address;
    };
    // given a job that fails, and one given before that ends well afterwards
    const [one, two] = [await reserve(slots), await reserve(slots)];
    expect([one?.worker, two?.worker]).toEqual([failing, failing]);
    one?.failed();
    one?.release();
    expect(await chosen()).toBe('b');
    two?.succeeded();
    two?.release();
    expect(await chosen()).toBe('a');
    // given one that finds it busy for three seconds
    const third = await reserve(slots);
    third?.foundBusy(3_000);
    third?.release();
    expect(await chosen()).toBe('b');
    clock.nowMs += 3_000;
    expect(await chosen()).toBe('a');
  });
});
