import { describe, expect, it } from '@jest/globals';
import type { UnprovenEnd } from '../../api/jobs/attempt.ts';
import { type Dispatchable, type DispatchServices, dispatch } from '../../api/jobs/dispatch.ts';
import { SILENCE_SECONDS } from '../../api/jobs/job.ts';
import type { WorkerTask } from '../../api/workers/client.ts';
import { type WorkerEvent, WorkerFailedError } from '../../api/workers/events.ts';
import { createLogger } from '../../common/logger.ts';

// What a whole service cannot be made to do at will: what each worker of a job says in its turn.

const STOP_AT = 105n;

/** What a worker says: pieces of text, then a failure. */
type Script = readonly string[];

/** Asks workers that all fail, each after its own text. */
async function answer(
  scripts: readonly Script[],
  other: {
    nowSeconds?: bigint;
    workers?: DispatchServices['workers'];
    clientGone?: AbortSignal;
    keepPartial?: boolean;
    waitUntil?: (at: bigint) => Promise<void>;
    /** Resolves once another worker has a place. */
    free?: Promise<void>;
    /** Whose places are given back, in that order, where it is not the one they were taken in. */
    released?: readonly string[];
  } = {},
) {
  const { nowSeconds = 0n, clientGone = new AbortController().signal, keepPartial = true } = other;
  const { waitUntil = () => new Promise(() => undefined) } = other;
  const asked: WorkerTask[] = [];
  const taken: string[] = [];
  const released: string[] = [];
  const delivered: string[] = [];
  const left = scripts.map((_script, index) => `worker ${index}`);

  function takeReservation() {
    const address = left.shift();
    if (address === undefined) return undefined;
    taken.push(address);
    return {
      worker: { address, endpoint: '', cooldown: { failures: 0 }, isSilent: false },
      ...{ observeFirstToken: () => undefined, succeeded: () => undefined },
      ...{ failed: () => undefined, foundBusy: () => undefined },
      release: () => void released.push(address),
    };
  }

  async function* ask(task: WorkerTask): AsyncGenerator<readonly WorkerEvent[]> {
    asked.push(task);
    for (const text of scripts[asked.length - 1] ?? []) yield [{ type: 'content', text }];
    throw new WorkerFailedError('engine_failed');
  }

  const services = {
    workers: other.workers ?? { submit: ask, stop: async () => undefined },
    clock: { nowSeconds: () => nowSeconds, waitUntil },
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
      deadlines: { stopAt: STOP_AT },
    },
    reservation: takeReservation(),
    chat: {},
    clientGone,
    keepPartial,
  } as unknown as Dispatchable;
  const started: number[] = [];
  let end: UnprovenEnd | undefined;
  for await (const event of dispatch(services, dispatchable)) {
    if (event.type === 'started') started.push(event.attempt);
    if (event.type === 'text') delivered.push(...event.pieces);
    if (event.type === 'unproven') end = event.end;
  }
  // However it ends, no place is kept.
  expect(released).toEqual(other.released ?? taken);
  return { end, taken, delivered, started, attempts: asked.map(({ attempt }) => attempt) };
}

describe('a job with failing workers', () => {
  it('is dispatched to three workers, each as a new attempt', async () => {
    const { end, attempts } = await answer([[], [], [], []]);
    expect(end).toMatchObject({ kind: 'failed', hasText: false });
    expect(attempts).toEqual([1, 2, 3]);
  });

  it('is not dispatched again after the first text, so that two answers never mix', async () => {
    const { end, delivered, attempts } = await answer([[], ['Hel', 'lo'], ['Good morning']]);
    expect(end).toMatchObject({ kind: 'failed', reason: 'worker_error', hasText: true });
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
      // By the next turn another's place is waited for.
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
      waitUntil: (at) =>
        at === SILENCE_SECONDS ? Promise.resolve() : new Promise(() => undefined),
      free,
      ...(when === 'before' && { released: ['worker 1', 'worker 0'] }),
    });
    return { end, taken, delivered };
  }
  const taken = ['worker 0', 'worker 1'];
  const end = { kind: 'failed', hasText: true, cause: 'engine_failed' };

  it.each(['before', 'just when'] as const)(
    'keeps the job when its text comes %s another worker is reserved, which is then released',
    async (when) => {
      expect(await speakUp(when)).toMatchObject({ end, taken, delivered: ['Hello'] });
    },
  );

  it('is ignored once another worker has the job', async () => {
    expect(await speakUp('after')).toMatchObject({ end, taken, delivered: ['Good morning'] });
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
  async function leave(keepPartial: boolean) {
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
    const { end } = await answer([[]], { workers, clientGone: leaving.signal, keepPartial });
    return { kind: end?.kind, isStopped };
  }

  it('has its stream stopped and proven, because it has read the text', async () => {
    expect(await leave(true)).toEqual({ kind: 'failed', isStopped: true });
  });

  it('has its plain answer cancelled, because it has read nothing', async () => {
    expect(await leave(false)).toEqual({ kind: 'client_gone', isStopped: false });
  });
});
