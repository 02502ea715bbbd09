import { hash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { UnprovenEnd } from '../../api/jobs/attempt.ts';
import { type Dispatchable, type DispatchServices, dispatch } from '../../api/jobs/dispatch.ts';
import { IDLE_MS } from '../../api/jobs/job.ts';
import type { WorkerTask } from '../../api/workers/client.ts';
import { type WorkerEvent, WorkerFailedError } from '../../api/workers/events.ts';
import { createLogger } from '../../common/logger.ts';

// What a whole service cannot be made to do at will: what each worker of a job says in its turn.

const STOP_AT = 105n;

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] }));
afterEach(() => void jest.useRealTimers());

/** What a worker says: pieces of text, then a failure. */
type Script = readonly string[];

/** Asks workers that all fail, each after its own text. */
async function answer(
  scripts: readonly Script[],
  other: {
    nowSeconds?: bigint;
    workers?: DispatchServices['workers'];
    clientGone?: AbortSignal;
    isStream?: boolean;
    chat?: Record<string, unknown>;
    waitUntil?: (at: bigint) => Promise<void>;
    clock?: Pick<DispatchServices['clock'], 'nowSeconds' | 'waitUntil'>;
    /** Resolves once another worker has a place. */
    free?: Promise<void>;
    /** Whose places are given back, in that order, where it is not the one they were taken in. */
    released?: readonly string[];
    /** What the ledger has once so many workers were asked. */
    undelivered?: (asked: number) => { workerAddress: string; attempt: number } | undefined;
  } = {},
) {
  const { nowSeconds = 0n, clientGone = new AbortController().signal, isStream = true } = other;
  const { waitUntil = () => new Promise(() => undefined) } = other;
  const asked: WorkerTask[] = [];
  const taken: string[] = [];
  const released: string[] = [];
  /** What was noted of the workers. */
  const noted: string[] = [];
  const delivered: string[] = [];
  const left = scripts.map((_script, index) => `worker ${index}`);

  function takeReservation() {
    const address = left.shift();
    if (address === undefined) return undefined;
    taken.push(address);
    return {
      worker: { address, endpoint: '', cooldown: { failures: 0 }, isSilent: false },
      ...{ observeFirstToken: () => undefined, succeeded: () => undefined },
      failed: () => void noted.push(`${address} failed`),
      foundBusy: () => void noted.push(`${address} busy`),
      refusedConnection: () => void noted.push(`${address} refused`),
      release: () => void released.push(address),
    };
  }

  async function* ask(task: WorkerTask): AsyncGenerator<readonly WorkerEvent[]> {
    asked.push(task);
    for (const text of scripts[asked.length - 1] ?? []) yield [{ type: 'content', text }];
    throw new WorkerFailedError('engine_failed');
  }

  const services = {
    escrow: { undeliveredProof: async () => other.undelivered?.(asked.length) },
    workers: other.workers ?? { submit: ask, stop: async () => undefined },
    clock: other.clock ?? { nowSeconds: () => nowSeconds, waitUntil },
    logger: createLogger({ name: 'test', level: 'silent' }),
    directory: {
      async reserve() {
        await other.free;
        return takeReservation();
      },
      active: () => left.map((address) => ({ address })),
    },
  } as unknown as DispatchServices;
  const dispatchable = {
    job: {
      id: 'a job',
      model: { id: 'm', address: 'm' },
      tokenLimit: 10,
      deadlines: { stopAt: STOP_AT, proofDueAt: STOP_AT + 10n },
    },
    reservation: takeReservation(),
    chat: other.chat ?? {},
    clientGone,
    isStream,
  } as unknown as Dispatchable;
  const started: number[] = [];
  /** How many pieces were delivered before each beginning anew. */
  const discarded: number[] = [];
  let end: UnprovenEnd | undefined;
  for await (const event of dispatch(services, dispatchable)) {
    if (event.type === 'started') started.push(event.attempt);
    if (event.type === 'text') delivered.push(...event.pieces.map(({ text }) => text));
    if (event.type === 'discarded') discarded.push(delivered.length);
    if (event.type === 'unproven') end = event.end;
  }
  // However it ends, no place is kept.
  expect(released).toEqual(other.released ?? taken);
  return {
    end,
    taken,
    delivered,
    discarded,
    started,
    noted,
    attempts: asked.map(({ attempt }) => attempt),
  };
}

describe('a job with failing workers', () => {
  it('is dispatched to three workers, each as a new attempt', async () => {
    const { end, attempts } = await answer([[], [], [], []]);
    expect(end).toMatchObject({ kind: 'failed', hasBegun: false });
    expect(attempts).toEqual([1, 2, 3]);
  });

  it('restarts at another worker after the first text of a plain request', async () => {
    const { discarded, delivered, attempts } = await answer([['Hel'], ['Good morning']], {
      isStream: false,
    });
    expect(attempts).toEqual([1, 2]);
    expect(delivered).toEqual(['Hel', 'Good morning']);
    expect(discarded).toEqual([1]);
  });

  it('ends with the shortest retry time of its workers if all of them were busy', async () => {
    const waits = [9_000, 4_000, 7_000];
    // biome-ignore lint/correctness/useYield: it has nothing to say
    async function* refuse(): AsyncGenerator<readonly WorkerEvent[]> {
      throw new WorkerFailedError('no_free_slot', { busy: { retryAfterMs: waits.shift() } });
    }
    const workers = { submit: refuse } as unknown as DispatchServices['workers'];
    const { end } = await answer([[], [], []], { workers });
    expect(end).toMatchObject({ kind: 'failed', busy: { retryAfterMs: 4_000 } });
  });

  it('ends without a retry time if one worker failed for another reason', async () => {
    const busy = [{ retryAfterMs: 9_000 }, undefined];
    // biome-ignore lint/correctness/useYield: it has nothing to say
    async function* refuse(): AsyncGenerator<readonly WorkerEvent[]> {
      const next = busy.shift();
      throw new WorkerFailedError('some_code', next && { busy: next });
    }
    const workers = { submit: refuse } as unknown as DispatchServices['workers'];
    const { end } = await answer([[], []], { workers });
    expect(end).toMatchObject({ kind: 'failed', busy: undefined });
  });

  it('ends with the time of the next probe if nothing listens at any of its workers', async () => {
    // biome-ignore lint/correctness/useYield: it has nothing to say
    async function* refuse(): AsyncGenerator<readonly WorkerEvent[]> {
      const cause = Object.assign(new Error(), { code: 'ECONNREFUSED' });
      throw new WorkerFailedError('connection_failed', { cause });
    }
    const workers = { submit: refuse } as unknown as DispatchServices['workers'];
    const { end, noted } = await answer([[], []], { workers });
    expect(end).toMatchObject({ kind: 'failed', busy: { retryAfterMs: 5_000 } });
    expect(noted).toEqual(['worker 0 refused', 'worker 1 refused']);
  });

  it('blames the worker whose proof is on the ledger alone, and not those that refuse for it', async () => {
    // biome-ignore lint/correctness/useYield: it has nothing to say
    async function* refuse(): AsyncGenerator<readonly WorkerEvent[]> {
      throw new WorkerFailedError('job_not_open', { busy: { retryAfterMs: undefined } });
    }
    const workers = { submit: refuse } as unknown as DispatchServices['workers'];
    const undelivered = () => ({ workerAddress: 'worker 0', attempt: 1 });
    const { noted } = await answer([[], [], []], { workers, undelivered });
    expect(noted).toEqual(['worker 0 busy', 'worker 0 failed', 'worker 1 busy', 'worker 2 busy']);
  });

  it('blames a worker once, also for a proof that the ledger shows later', async () => {
    const undelivered = (asked: number) =>
      asked > 1 ? { workerAddress: 'worker 0', attempt: 1 } : undefined;
    const { noted } = await answer([[], [], []], { undelivered });
    expect(noted).toEqual(['worker 0 failed', 'worker 1 failed', 'worker 2 failed']);
  });

  it('is not dispatched again after the first text of a stream, so that two answers never mix', async () => {
    const { end, delivered, attempts } = await answer([[], ['Hel', 'lo'], ['Good morning']]);
    expect(end).toMatchObject({ kind: 'failed', reason: 'worker_error', hasBegun: true });
    expect(delivered).toEqual(['Hel', 'lo']);
    expect(attempts).toEqual([1, 2]);
  });

  it('emits a started event with each attempt', async () => {
    expect((await answer([[], ['Hel', 'lo']])).started).toEqual([1, 2]);
  });

  it('is not dispatched to a worker that could not prove anything in time', async () => {
    expect((await answer([[], []], { nowSeconds: STOP_AT - 1n })).attempts).toEqual([1, 2]);
    expect((await answer([[], []], { nowSeconds: STOP_AT })).attempts).toEqual([1]);
  });
});

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
    'keeps the job when its text comes %s another worker is reserved, which is then released',
    async (when) => {
      expect(await speakUp(when)).toMatchObject({ end, taken, delivered: ['Hello'] });
    },
  );

  it('and then fails keeps no place that comes free for it only later', async () => {
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

describe('a worker that reports an empty answer', () => {
  it.each([
    ['has given one', [], 'empty_output'],
    ['has failed after its first text', ['Hello'], 'worker_error'],
  ])('%s: as the ledger then says', async (_what, texts, reason) => {
    async function* ask() {
      for (const text of texts) yield [{ type: 'content', text }];
      throw new WorkerFailedError('empty_output');
    }
    const workers = { submit: ask } as unknown as DispatchServices['workers'];
    expect((await answer([[]], { workers })).end).toMatchObject({ kind: 'failed', reason });
  });
});

describe('a worker that reports messages above its context window', () => {
  it.each([
    ['ends the job as context_exceeded before any text', [], { kind: 'context_exceeded' }],
    ['has failed after the first text', ['Hello'], { kind: 'failed', reason: 'worker_error' }],
  ])('%s', async (_what, texts, expected) => {
    async function* ask() {
      for (const text of texts) yield [{ type: 'content', text }];
      throw new WorkerFailedError('context_length_exceeded');
    }
    const workers = { submit: ask } as unknown as DispatchServices['workers'];
    expect((await answer([[]], { workers })).end).toMatchObject(expected);
  });
});

describe('a client that disconnects after the first text', () => {
  /** @returns how the job ends, and whether its worker was told to stop and prove */
  async function leave(isStream: boolean) {
    const leaving = new AbortController();
    let isStopped = false;
    async function* ask(_task: WorkerTask, signal: AbortSignal) {
      yield [{ type: 'content', text: 'Hello' }];
      leaving.abort();
      if (signal.aborted || isStopped) throw new WorkerFailedError('connection_lost');
      yield [{ type: 'content', text: ', and on it goes' }];
    }
    const stop = async () => {
      isStopped = true;
    };
    const workers = { submit: ask, stop } as unknown as DispatchServices['workers'];
    const { end } = await answer([[]], { workers, clientGone: leaving.signal, isStream });
    return { kind: end?.kind, isStopped };
  }

  it('has its stream stopped and proven, because it has read the text', async () => {
    expect(await leave(true)).toEqual({ kind: 'failed', isStopped: true });
  });

  it('has its plain answer cancelled, because it has read nothing', async () => {
    expect(await leave(false)).toEqual({ kind: 'client_gone', isStopped: false });
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

  /** A worker that says what it is told to, until its connection is cut or it ends by itself. */
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

  function begin({ isStream, others = 0 }: { isStream: boolean; others?: number }) {
    const clock = createClock();
    const talker = createTalker();
    const ending = answer([[], ...Array.from({ length: others }, () => [])], {
      workers: talker.workers,
      clock,
      isStream,
    });
    return { clock, talker, ending };
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

  it('is waited for while it gives signs of life, before and after its first text', async () => {
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
      expect((await ending).end).toEqual({ kind: 'overdue' });
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
    ['stopped and proven', 10, true],
    ['given up', 11, false],
  ])(
    'is %s 15 s before the deadline, %i s after its last sign of life',
    async (_how, seconds, isStopped) => {
      const { clock, talker, ending } = begin({ isStream: false });
      await talker.say(text);
      for (let second = 0; second < Number(STOP_AT) - seconds; second += 1) {
        await clock.advance(1);
        await talker.say(alive);
      }
      await clock.advance(seconds);
      expect(talker.isStopped()).toBe(isStopped);
      if (!isStopped) expect((await ending).end).toMatchObject({ cause: 'silent' });
      else {
        await talker.say({ type: 'finish', reason: 'length' });
        await clock.advance(20);
      }
    },
  );
});

describe("a request that a model's server refuses", () => {
  /** What each worker says in its turn: a refusal, a failure, or an answer. */
  const say = (...turns: (string | { param: string } | undefined)[]) => {
    const submit: DispatchServices['workers']['submit'] = async function* ({ attempt }) {
      const turn = turns[attempt - 1];
      if (typeof turn === 'object') throw new WorkerFailedError('parameter_refused', turn);
      if (turn !== undefined) throw new WorkerFailedError(turn);
      const outputHash = hash('sha256', 'Hello', 'buffer');
      yield [
        { type: 'content', text: 'Hello' },
        { type: 'proof', proof: { outputHash, promptTokens: 1, completionTokens: 1 } },
      ] as WorkerEvent[];
    };
    return { submit, stop: async () => undefined };
  };
  const refused = 'request_refused';

  it('is asked of one more worker at most, and counts against neither', async () => {
    const workers = say(refused, refused, undefined);
    const { end, started, noted } = await answer([[], [], []], { workers });
    expect([end, started, noted]).toEqual([{ kind: 'refused' }, [1, 2], []]);
  });

  it('counts against the worker that refused what another answers', async () => {
    const workers = say(refused, undefined);
    const { end, delivered, noted } = await answer([[], [], []], { workers });
    expect([end, delivered, noted]).toEqual([undefined, ['Hello'], ['worker 0 failed']]);
  });

  it('stays refused where the other worker fails, which counts against that one', async () => {
    const workers = say(refused, 'engine_failed', undefined);
    const { end, started, noted } = await answer([[], [], []], { workers });
    expect([end, started, noted]).toEqual([{ kind: 'refused' }, [1, 2], ['worker 1 failed']]);
  });

  it('names the field that was refused first', async () => {
    const workers = say({ param: 'top_k' }, refused);
    const { end } = await answer([[], []], { workers, chat: { top_k: 20 } });
    expect(end).toEqual({ kind: 'refused', param: 'top_k' });
  });

  it('is a worker’s failure where it names a field that was not sent', async () => {
    const { end, noted } = await answer([[]], { workers: say({ param: 'top_k' }) });
    expect([end?.kind, noted]).toEqual(['failed', ['worker 0 failed']]);
  });
});
