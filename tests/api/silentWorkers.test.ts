import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { DispatchServices } from '../../api/jobs/dispatch.ts';
import type { WorkerTask } from '../../api/workers/client.ts';
import { type WorkerEvent, WorkerFailedError } from '../../api/workers/events.ts';
import { IDLE_MS } from '../../common/tokenizers/tokenCounts.ts';
import { answer, STOP_AT, say } from './dispatchScene.ts';

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] }));
afterEach(() => void jest.useRealTimers());

describe('a worker that was silent for too long', () => {
  const nextTurn = () => new Promise((resolve) => void setImmediate(resolve));

  /** It has text after all, when another worker has a place. */
  async function speakUp(when: 'before' | 'just when' | 'after') {
    const { promise: free, resolve: hasPlace } = Promise.withResolvers<void>();
    const texts = ['Hello', 'Good morning'];
    async function* ask(): AsyncGenerator<readonly WorkerEvent[]> {
      const text = texts.shift() ?? '';
      // Then another's place is waited for.
      if (texts.length > 0) await jest.advanceTimersByTimeAsync(IDLE_MS);
      await nextTurn();
      if (when !== 'before') hasPlace();
      if (when === 'after') await nextTurn();
      yield [{ type: 'content', text }];
      hasPlace();
      await nextTurn();
      throw new WorkerFailedError('engine_failed');
    }
    const { end, taken, delivered } = await answer([[], []], {
      workers: { submit: ask } as unknown as DispatchServices['workers'],
      free,
      ...(when === 'before' && { released: ['worker 1', 'worker 0'] }),
    });
    return { end, taken, delivered };
  }
  const taken = ['worker 0', 'worker 1'];
  const end = { kind: 'failed', hasBegun: true, cause: 'engine_failed' };

  it.each(['before', 'just when'] as const)(
    'keeps the job when its text comes %s another worker is reserved',
    async (when) => {
      expect(await speakUp(when)).toMatchObject({ end, taken, delivered: ['Hello'] });
    },
  );

  it('keeps no place that comes free only after its failure', async () => {
    const { promise: free, resolve: hasPlace } = Promise.withResolvers<void>();
    let asked = 0;
    async function* ask(): AsyncGenerator<readonly WorkerEvent[]> {
      asked += 1;
      if (asked === 1) {
        await jest.advanceTimersByTimeAsync(IDLE_MS);
        void nextTurn()
          .then(nextTurn)
          .then(() => hasPlace());
      }
      throw new WorkerFailedError('engine_failed');
    }
    const workers = { submit: ask } as unknown as DispatchServices['workers'];
    const { taken: places, attempts } = await answer([[], [], []], { workers, free });
    expect(places).toEqual(['worker 0', 'worker 1', 'worker 2']);
    expect(asked).toBe(2);
    expect(attempts).toEqual([]);
  });

  it('is ignored once another worker has the job', async () => {
    expect(await speakUp('after')).toMatchObject({ end, taken, delivered: ['Good morning'] });
  });
});

describe('a worker that stands still', () => {
  /** A clock that is moved by hand. */
  function createClock() {
    let now = 0n;
    const waiting = new Set<{ at: bigint; resolve: () => void }>();
    return {
      nowSeconds: () => now,
      waitUntil: (at: bigint) =>
        at <= now
          ? Promise.resolve()
          : new Promise<void>((resolve) => void waiting.add({ at, resolve })),
      /** Moves the time on, second by second, so that everything happens in its order. */
      async advance(seconds: number) {
        for (let second = 0; second < seconds; second += 1) {
          now += 1n;
          await jest.advanceTimersByTimeAsync(1_000);
          for (const waiter of [...waiting]) {
            if (waiter.at > now) continue;
            waiting.delete(waiter);
            waiter.resolve();
          }
          await new Promise((resolve) => void setImmediate(resolve));
        }
      },
    };
  }

  /** A worker that says what the test sets, until its connection is cut or it ends by itself. */
  function createTalker() {
    const said: (readonly WorkerEvent[])[] = [];
    let wake = () => {};
    let isStopped = false;
    async function* submit(_task: WorkerTask, signal: AbortSignal) {
      signal.addEventListener('abort', () => wake());
      for (;;) {
        if (signal.aborted) throw new WorkerFailedError('connection_lost');
        const next = said.shift();
        if (next) yield next;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    }
    const stop = async () => {
      isStopped = true;
    };
    return {
      workers: { submit, stop } as unknown as DispatchServices['workers'],
      async say(...events: WorkerEvent[]) {
        said.push(events);
        wake();
        await new Promise((resolve) => void setImmediate(resolve));
      },
      isStopped: () => isStopped,
    };
  }

  function begin(options: {
    isStream: boolean;
    others?: number;
    firstSilenceMs?: number;
    chat?: Record<string, unknown>;
  }) {
    const { others = 0, ...asked } = options;
    const clock = createClock();
    const talker = createTalker();
    const ending = answer([[], ...Array.from({ length: others }, () => [])], {
      workers: talker.workers,
      clock,
      ...asked,
    });
    return { clock, talker, ending };
  }

  /** Whether it has ended by now. */
  function watch(ending: Promise<unknown>): () => boolean {
    let isOver = false;
    void ending.then(() => (isOver = true));
    return () => isOver;
  }

  const text = { type: 'content', text: 'Hello' } as const;
  const alive = { type: 'alive' } as const;

  it('ends a stream 20 s after its last text, and nothing is proven', async () => {
    const { clock, talker, ending } = begin({ isStream: true });
    await clock.advance(15);
    await talker.say(text);
    await clock.advance(19);
    expect(talker.isStopped()).toBe(false);
    await clock.advance(1);
    const { end, attempts } = await ending;
    expect(end).toMatchObject({ kind: 'failed', cause: 'silent', hasBegun: true });
    expect(attempts).toEqual([]);
  });

  it('is waited for while it gives signs of life, before and after text', async () => {
    const { clock, talker, ending } = begin({ isStream: true });
    for (const event of [alive, alive, text, alive]) {
      await clock.advance(15);
      await talker.say(event);
    }
    let isOver = false;
    void ending.then(() => (isOver = true));
    await clock.advance(19);
    expect(isOver).toBe(false);
    await clock.advance(1);
    expect((await ending).end).toMatchObject({ cause: 'silent' });
  });

  it.each([true, false])(
    'runs to its deadline while it lives without text (stream: %s)',
    async (isStream) => {
      const { clock, talker, ending } = begin({ isStream });
      for (let second = 0; second < Number(STOP_AT) + 9; second += 1) {
        await clock.advance(1);
        await talker.say(alive);
      }
      expect(talker.isStopped()).toBe(false);
      await clock.advance(1);
      const { end, noted } = await ending;
      expect([end, noted]).toEqual([{ kind: 'overdue', isExcused: false }, ['worker 0 failed']]);
    },
  );

  it('ends a stream 20 s after its last thought: no other worker follows', async () => {
    const { clock, talker, ending } = begin({ isStream: true, others: 1 });
    await clock.advance(15);
    await talker.say({ type: 'reasoning', text: 'Hm.' });
    await clock.advance(19);
    expect(talker.isStopped()).toBe(false);
    await clock.advance(1);
    const { end, started } = await ending;
    expect(end).toMatchObject({ kind: 'failed', cause: 'silent', hasBegun: true });
    expect(started).toEqual([1]);
  });

  it('gives a plain request to another worker, also after its first thought', async () => {
    const { clock, talker, ending } = begin({ isStream: false, others: 1 });
    await talker.say({ type: 'reasoning', text: 'Hm.' });
    await clock.advance(40);
    const { discarded, started } = await ending;
    expect(started).toEqual([1, 2]);
    expect(discarded).toEqual([1]);
  });

  it.each([true, false])(
    'ends the job after 20 s without any word (stream: %s)',
    async (isStream) => {
      const { clock, ending } = begin({ isStream });
      await clock.advance(20);
      expect((await ending).end).toMatchObject({ cause: 'silent', hasBegun: false });
    },
  );

  it('gives a plain request to another worker, also after its first text', async () => {
    const { clock, talker, ending } = begin({ isStream: false, others: 1 });
    let isOver = false;
    void ending.then(() => (isOver = true));
    await talker.say(text);
    await clock.advance(20);
    await talker.say(text);
    // The other one stands still, too, and there is no third.
    await clock.advance(19);
    expect(isOver).toBe(false);
    await clock.advance(1);
    const { end, discarded, started } = await ending;
    expect(started).toEqual([1, 2]);
    expect(discarded).toEqual([1]);
    expect(end).toMatchObject({ cause: 'silent', hasBegun: true });
  });

  it.each([
    ['stopped and proven', 20, true],
    ['given up, which counts against it,', 21, false],
  ])(
    'is %s 15 s before the deadline, %i s after its last text',
    async (_how, seconds, isStopped) => {
      const { clock, talker, ending } = begin({ isStream: false });
      const live = async (untilSecond: number) => {
        for (let second = 0; second < untilSecond; second += 1) {
          await clock.advance(1);
          await talker.say(alive);
        }
      };
      await live(Number(STOP_AT) - seconds);
      await talker.say(text);
      await live(seconds);
      expect(talker.isStopped()).toBe(isStopped);
      // One that was stopped proves nothing here.
      await clock.advance(isStopped ? 10 : 0);
      const { end, noted } = await ending;
      expect(end).toMatchObject(isStopped ? { kind: 'overdue' } : { cause: 'silent' });
      expect(noted).toEqual(['worker 0 failed']);
    },
  );

  it.each([
    ['still has time to read the prompt', { firstSilenceMs: 200_000 }, undefined],
    ['thinks', {}, { type: 'reasoning', text: 'Hm.' }],
  ] as const)('is not blamed at its deadline where it %s', async (_what, reading, event) => {
    const { clock, talker, ending } = begin({ isStream: false, ...reading });
    for (let second = 0; second < Number(STOP_AT) + 10; second += 1) {
      if (event) await talker.say(event);
      await clock.advance(1);
    }
    const { end, noted } = await ending;
    expect([end, noted]).toEqual([{ kind: 'overdue', isExcused: true }, []]);
  });

  describe('before its first text', () => {
    const reading = { isStream: false, firstSilenceMs: 44_000 };

    it('is waited for as long as the prompt takes to read, and then cools down', async () => {
      const { clock, ending } = begin(reading);
      const isOver = watch(ending);
      await clock.advance(43);
      expect(isOver()).toBe(false);
      await clock.advance(1);
      const { end, noted } = await ending;
      expect([end, noted]).toMatchObject([{ cause: 'silent' }, ['worker 0 failed']]);
    });

    it.each([
      [5, 44],
      [30, 50],
    ])('is waited for, having lived after %i s, until %i s', async (aliveAt, silentAt) => {
      const { clock, talker, ending } = begin(reading);
      const isOver = watch(ending);
      await clock.advance(aliveAt);
      await talker.say(alive);
      await clock.advance(silentAt - aliveAt - 1);
      expect(isOver()).toBe(false);
      await clock.advance(1);
      expect((await ending).end).toMatchObject({ cause: 'silent' });
    });

    it('has the rest of its time taken by that text', async () => {
      const { clock, talker, ending } = begin(reading);
      await clock.advance(1);
      await talker.say(text);
      await clock.advance(20);
      expect((await ending).end).toMatchObject({ cause: 'silent' });
    });

    it('counts against none where a schema can hold every server up', async () => {
      const chat = { response_format: { type: 'json_schema' } };
      const { clock, ending } = begin({ isStream: false, others: 1, chat });
      await clock.advance(40);
      const { started, end, noted } = await ending;
      expect([started, noted]).toEqual([[1, 2], []]);
      expect(end).toMatchObject({ reason: 'worker_error', cause: 'silent' });
    });

    it('counts against the worker where another takes the same schema', async () => {
      const chat = { response_format: { type: 'json_schema' } };
      const { submit } = say('silent', undefined);
      const mute: DispatchServices['workers']['submit'] = async function* (task, signal) {
        if (task.attempt > 1) return yield* submit(task, signal);
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        throw new WorkerFailedError('connection_lost');
      };
      const workers = { submit: mute, stop: async () => undefined };
      const ending = answer([[], []], { workers, chat });
      await jest.advanceTimersByTimeAsync(IDLE_MS);
      const { delivered, noted } = await ending;
      expect([delivered, noted]).toEqual([['Hello'], ['worker 0 failed']]);
    });

    it('leaves another worker 25 s after the longest prompt', async () => {
      const { clock, ending } = begin({ ...reading, firstSilenceMs: 80_000, others: 1 });
      await clock.advance(Number(STOP_AT) + 10);
      const { started, end, noted } = await ending;
      expect(started).toEqual([1, 2]);
      // It had no time to read it, which is not its fault.
      expect([end, noted]).toEqual([{ kind: 'overdue', isExcused: true }, ['worker 0 failed']]);
    });
  });
});
