import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { DispatchServices } from '../../api/jobs/dispatch.ts';
import type { WorkerTask } from '../../api/workers/client.ts';
import { type WorkerEvent, WorkerFailedError } from '../../api/workers/events.ts';
import { answer, STOP_AT, say } from './dispatchScene.ts';

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] }));
afterEach(() => void jest.useRealTimers());

describe('a job with failing workers', () => {
  it('is dispatched to three workers, each as a new attempt', async () => {
    const { end, attempts } = await answer([[], [], [], []]);
    expect(end).toMatchObject({ kind: 'failed', hasBegun: false });
    expect(attempts).toEqual([1, 2, 3]);
  });

  it('has one salt for all of its attempts', async () => {
    const { salts } = await answer([[], [], []]);
    expect(salts).toHaveLength(3);
    expect(new Set(salts).size).toBe(1);
  });

  it('restarts at another worker after the first text of a plain request', async () => {
    const { discarded, delivered, attempts } = await answer([['Hel'], ['Good morning']], {
      isStream: false,
    });
    expect(attempts).toEqual([1, 2]);
    expect(delivered).toEqual(['Hel', 'Good morning']);
    expect(discarded).toEqual([1]);
  });

  it('is blamed on no worker that left, moved or changed its key by then', async () => {
    const { end, noted } = await answer([[], []], { changed: ['worker 0', 'worker 1'] });
    expect(noted).toEqual(['worker 0 busy', 'worker 1 busy']);
    expect(end).toMatchObject({ kind: 'failed', busy: { retryAfterMs: expect.any(Number) } });
  });

  it('is blamed on a worker that broke off its text and then changed', async () => {
    const { end, noted } = await answer([['Hel']], { changed: ['worker 0'] });
    expect(noted).toEqual(['worker 0 failed']);
    expect(end).toMatchObject({ kind: 'failed', busy: undefined });
  });

  it('is dispatched on after a second while the database shows no workers', async () => {
    const answering = answer([[], []], { refresh: () => new Promise(() => undefined) });
    await jest.advanceTimersByTimeAsync(2_000);
    expect((await answering).attempts).toEqual([1, 2]);
  });

  it('ends with the shortest retry time when all its workers are busy', async () => {
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

  it('ends with the time of the next probe when no worker listens', async () => {
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

  it('blames the worker with the proof on the ledger, not those that refuse', async () => {
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

  it('is not dispatched again after the first text of a stream', async () => {
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
  /** @returns how the job ends, and whether its worker was asked to stop and prove */
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

describe("a request that a model's server refuses", () => {
  it.each(['invalid_request', 'body_too_large'])(
    'is the client’s error when refused by %s, as no worker takes it',
    async (code) => {
      const { end, started, noted } = await answer([[], [], []], { workers: say(code, code) });
      expect([end, started, noted]).toEqual([{ kind: 'refused' }, [1, 2], []]);
    },
  );

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

  it('stays refused where another worker fails, and that one is blamed', async () => {
    const workers = say(refused, 'engine_failed', undefined);
    const { end, started, noted } = await answer([[], [], []], { workers });
    expect([end, started, noted]).toEqual([{ kind: 'refused' }, [1, 2], ['worker 1 failed']]);
  });

  it('stays refused where another worker’s text breaks off', async () => {
    const submit: DispatchServices['workers']['submit'] = async function* ({ attempt }) {
      if (attempt === 1) throw new WorkerFailedError(refused);
      yield [{ type: 'content', text: 'Half of' }];
      throw new WorkerFailedError('engine_failed');
    };
    const workers = { submit, stop: async () => undefined };
    const { end, noted } = await answer([[], [], []], { workers });
    expect([end, noted]).toEqual([{ kind: 'refused' }, ['worker 1 failed']]);
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
