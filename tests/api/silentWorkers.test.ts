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
  /** A prompt that takes so long to read. */
  const reading = { ...plain, firstSilenceMs: 44_000 };
  const silent = { kind: 'failed', cause: 'silent' };
  const excused = { kind: 'overdue', isExcused: true };
  const blamed = ['worker 0 failed'];
  const schema = { response_format: { type: 'json_schema' } };

  it.each<[string, Asked, Course, object]>([
    [
      'ends a stream 20 s after its last text, and nothing is proven',
      stream,
      [15, text, 20],
      { end: { ...silent, hasBegun: true }, isStopped: false },
    ],
    [
      'is waited for while it gives signs of life, before and after text',
      stream,
      [15, alive, 15, alive, 15, text, 15, alive, 20],
      { end: silent },
    ],
    ...[stream, plain].map((form): [string, Asked, Course, object] => [
      `runs to its deadline while it lives without text (stream: ${form.isStream})`,
      form,
      [...living(dueAt - 1), 1],
      { end: { kind: 'overdue', isExcused: false }, noted: blamed, isStopped: false },
    ]),
    ...[stream, plain].map((form): [string, Asked, Course, object] => [
      `ends the job after 20 s without any word (stream: ${form.isStream})`,
      form,
      [20],
      { end: { ...silent, hasBegun: false } },
    ]),
    [
      'ends a stream 20 s after its last thought: no other worker follows',
      { ...stream, others: 1 },
      [15, thought, 20],
      { end: { ...silent, hasBegun: true }, started: [1], isStopped: false },
    ],
    [
      'gives a plain request to another worker, also after its first thought',
      { ...plain, others: 1 },
      [thought, 40],
      { started: [1, 2], discarded: [1] },
    ],
    [
      'gives a plain request to another worker, also after its first text',
      { ...plain, others: 1 },
      [text, 20, text, 20],
      { end: { ...silent, hasBegun: true }, started: [1, 2], discarded: [1] },
    ],
    [
      'is stopped 15 s before the deadline, 20 s after its last text',
      plain,
      // It proves nothing here.
      [...living(stopAt - 20), text, ...living(20), 10],
      { end: { kind: 'overdue' }, noted: blamed, isStopped: true },
    ],
    [
      'is given up 15 s before the deadline, 21 s after its last text',
      plain,
      [...living(stopAt - 21), text, ...living(20), 1],
      { end: silent, noted: blamed, isStopped: false },
    ],
    [
      'is not blamed at its deadline where it still has time for the prompt',
      { ...plain, firstSilenceMs: 200_000 },
      [dueAt],
      { end: excused, noted: [] },
    ],
    [
      'is not blamed at its deadline where it thinks',
      plain,
      thinking(dueAt),
      { end: excused, noted: [] },
    ],
    [
      'is waited for as long as the prompt takes to read, and cools down',
      reading,
      [44],
      { end: silent, noted: blamed },
    ],
    ['has no more time for the prompt by a sign of life', reading, [5, alive, 39], { end: silent }],
    ['has 20 s after a late sign of life', reading, [30, alive, 20], { end: silent }],
    ['has the rest of that time taken by its text', reading, [1, text, 20], { end: silent }],
    [
      'counts against none where a schema can hold every server up',
      { ...plain, others: 1, chat: schema },
      [40],
      { end: { ...silent, reason: 'worker_error' }, started: [1, 2], noted: [] },
    ],
    [
      'leaves another worker 25 s after the longest prompt',
      { ...plain, firstSilenceMs: 80_000, others: 1 },
      [dueAt],
      // The other one had no time to read it, which is not its fault.
      { end: excused, started: [1, 2], noted: blamed },
    ],
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
    expect(await ending).toMatchObject({ delivered: ['Hello'], noted: blamed });
  });
});
