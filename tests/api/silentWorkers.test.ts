import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { DispatchServices } from '../../api/jobs/dispatch.ts';
import type { WorkerTask } from '../../api/workers/client.ts';
import { type WorkerEvent, WorkerFailedError } from '../../api/workers/events.ts';
import { IDLE_MS } from '../../common/tokenizers/tokenCounts.ts';
import { answer, STOP_AT, say } from './dispatchScene.ts';

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] }));
afterEach(() => void jest.useRealTimers());

const nextTurn = () => new Promise((resolve) => void setImmediate(resolve));

describe('a worker that was silent for too long', () => {
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
    const { end, taken, delivered } = await answer([{}, {}], {
      workers: { submit: ask } as unknown as DispatchServices['workers'],
      free,
      ...(when === 'before' && { released: ['worker 1', 'worker 0'] }),
    });
    return { end, taken, delivered };
  }
  const taken = ['worker 0', 'worker 1'];
  const end = { kind: 'failed', hasBegun: true, cause: 'engine_failed' };

  it.each([
    ['keeps the job', 'before', 'Hello'],
    ['keeps the job', 'just when', 'Hello'],
    ['is ignored', 'after', 'Good morning'],
  ] as const)('%s when its text comes %s another worker is reserved', async (_how, when, text) => {
    expect(await speakUp(when)).toMatchObject({ end, taken, delivered: [text] });
  });

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
    const { taken: places } = await answer([{}, {}, {}], { workers, free });
    expect(places).toEqual(['worker 0', 'worker 1', 'worker 2']);
    expect(asked).toBe(2);
  });
});

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
        await nextTurn();
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
      await nextTurn();
    },
    isStopped: () => isStopped,
  };
}

/** What comes to pass: seconds of silence, and what the worker says after them. */
type Course = (number | WorkerEvent)[];

/** The outcome of a job that ends in the last second of its course, and in none before. */
async function outcomeOf(course: Course, { others = 0, ...asked }: Asked) {
  const clock = createClock();
  const talker = createTalker();
  const turns = Array.from({ length: 1 + others }, () => ({}));
  const ending = answer(turns, { workers: talker.workers, clock, ...asked });
  let isOver = false;
  void ending.then(() => (isOver = true));
  const last = course.at(-1) as number;
  for (const step of [...course.slice(0, -1), last - 1]) {
    if (typeof step === 'number') await clock.advance(step);
    else await talker.say(step);
  }
  expect(isOver).toBe(false);
  await clock.advance(1);
  return { ...(await ending), isStopped: talker.isStopped() };
}

interface Asked {
  isStream: boolean;
  others?: number;
  firstSilenceMs?: number;
  chat?: Record<string, unknown>;
}

describe('a worker that stands still', () => {
  const text = { type: 'content', text: 'Hello' } as const;
  const thought = { type: 'reasoning', text: 'Hm.' } as const;
  const alive = { type: 'alive' } as const;
  const living = (seconds: number): Course => Array(seconds).fill([1, alive]).flat();
  const thinking = (seconds: number): Course => Array(seconds).fill([thought, 1]).flat();
  const stopAt = Number(STOP_AT);
  /** When no proof can come in time any more. */
  const dueAt = stopAt + 10;
  const stream = { isStream: true };
  const plain = { isStream: false };
  /** A prompt that takes so many seconds to read. */
  const reading = (seconds: number): Asked => ({ ...plain, firstSilenceMs: seconds * 1_000 });
  const silent = { kind: 'failed', cause: 'silent' };
  const excused = { kind: 'overdue', isExcused: true };
  /** It is blamed. */
  const noted = ['worker 0 failed'];
  const schema = { response_format: { type: 'json_schema' } };

  const lasting = [...living(dueAt - 1), 1];
  const overdue = { kind: 'overdue', isExcused: false };
  const more = (asked: Asked): Asked => ({ ...asked, others: 1 });
  const begun = { end: { ...silent, hasBegun: true } };
  const restarted = { started: [1, 2], discarded: [1] };

  it.each<[string, Asked, Course, object]>([
    [
      'ends a stream 20 s after its last text',
      stream,
      [15, text, 20],
      { ...begun, isStopped: false },
    ],
    [
      'is waited for while it gives signs of life, before and after text',
      stream,
      [15, alive, 15, alive, 15, text, 15, alive, 20],
      begun,
    ],
    ['runs to the deadline of a stream while it lives', stream, lasting, { end: overdue, noted }],
    ['runs to the deadline in plain while it lives', plain, lasting, { end: overdue, noted }],
    ['ends a stream after 20 s', stream, [20], { end: { ...silent, hasBegun: false } }],
    ['ends a plain answer after 20 s', plain, [20], { end: { ...silent, hasBegun: false } }],
    ['ends a stream after a thought', more(stream), [15, thought, 20], { ...begun, started: [1] }],
    ['gives way in plain after a thought', more(plain), [thought, 40], restarted],
    [
      'gives way in plain after text',
      more(plain),
      [text, 20, text, 20],
      { ...begun, ...restarted },
    ],
    [
      'is stopped 15 s before the deadline, 20 s after its last text',
      plain,
      // It proves nothing here.
      [...living(stopAt - 20), text, ...living(20), 10],
      { end: { kind: 'overdue' }, noted, isStopped: true },
    ],
    [
      'is given up 15 s before the deadline, 21 s after its last text',
      plain,
      [...living(stopAt - 21), text, ...living(20), 1],
      { end: silent, noted, isStopped: false },
    ],
    ['is excused while it may read', reading(200), [dueAt], { end: excused, noted: [] }],
    ['is excused while it thinks', plain, thinking(dueAt), { end: excused, noted: [] }],
    ['is waited for as long as it may read', reading(44), [44], { end: silent, noted }],
    ['may read no longer by a sign of life', reading(44), [5, alive, 39], { end: silent }],
    ['has 20 s after a late sign of life', reading(44), [30, alive, 20], { end: silent }],
    ['may read no more once it has text', reading(44), [1, text, 20], { end: silent }],
    [
      'counts against none where a schema can hold every server up',
      { ...more(plain), chat: schema },
      [40],
      { end: { ...silent, reason: 'worker_error' }, started: [1, 2], noted: [] },
    ],
    // The other one had no time to read it, which is not its fault.
    ['leaves another 25 s', more(reading(80)), [dueAt], { end: excused, started: [1, 2], noted }],
  ])('%s', async (_title, asked, course, outcome) => {
    expect(await outcomeOf(course, asked)).toMatchObject(outcome);
  });

  it('counts against the worker where another takes the same schema', async () => {
    const { submit } = say('Hello');
    const mute: DispatchServices['workers']['submit'] = async function* (task, signal) {
      if (task.attempt > 1) return yield* submit(task, signal);
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      throw new WorkerFailedError('connection_lost');
    };
    const workers = { submit: mute, stop: async () => undefined };
    const ending = answer([{}, {}], { workers, chat: schema });
    await jest.advanceTimersByTimeAsync(IDLE_MS);
    expect(await ending).toMatchObject({ delivered: ['Hello'], noted });
  });
});
