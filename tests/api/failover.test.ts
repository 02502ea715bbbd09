import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { DispatchServices } from '../../api/jobs/dispatch.ts';
import type { WorkerTask } from '../../api/workers/client.ts';
import { WorkerFailedError } from '../../api/workers/events.ts';
import { answer, type Circumstances, STOP_AT, type Turn } from './dispatchScene.ts';

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] }));
afterEach(() => void jest.useRealTimers());

/** Workers that say this in their turns, then what comes of the job. */
type Case = [title: string, turns: Turn[], outcome: object, circumstances?: Circumstances];

const FAILS: Turn = {};
const busy = (retryAfterMs?: number): Turn => ({ code: 'no_free_slot', busy: { retryAfterMs } });
const away: Turn = {
  code: 'connection_failed',
  cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }),
};
const notOpen: Turn = { code: 'job_not_open', busy: { retryAfterMs: undefined } };
const failed = { kind: 'failed' };
const refused = { kind: 'refused' };
const proofOfFirst = { workerAddress: 'worker 0', attempt: 1 };

describe('a job with failing workers', () => {
  it.each<Case>([
    [
      'is dispatched to three of four, each as a new attempt',
      [FAILS, FAILS, FAILS, FAILS],
      { end: { ...failed, hasBegun: false }, started: [1, 2, 3] },
    ],
    [
      'restarts at another worker after the first text of a plain request',
      [{ texts: ['Hel'] }, { texts: ['Good morning'] }],
      { started: [1, 2], delivered: ['Hel', 'Good morning'], discarded: [1] },
      { isStream: false },
    ],
    [
      'is not dispatched again after the first text of a stream',
      [FAILS, { texts: ['Hel', 'lo'] }, { texts: ['Good morning'] }],
      {
        end: { ...failed, reason: 'worker_error', hasBegun: true },
        ...{ started: [1, 2], delivered: ['Hel', 'lo'] },
      },
    ],
    [
      'is dispatched to another that can prove something in time',
      [FAILS, FAILS],
      { started: [1, 2] },
      { nowSeconds: STOP_AT - 1n },
    ],
    [
      'is not dispatched to another that could prove nothing in time',
      [FAILS, FAILS],
      { started: [1] },
      { nowSeconds: STOP_AT },
    ],
    [
      'is blamed on no worker that left, moved or changed its key by then',
      [FAILS, FAILS],
      {
        end: { ...failed, busy: { retryAfterMs: expect.any(Number) } },
        noted: ['worker 0 busy', 'worker 1 busy'],
      },
      { changed: ['worker 0', 'worker 1'] },
    ],
    [
      'is blamed on a worker that broke off its text and then changed',
      [{ texts: ['Hel'] }],
      { end: { ...failed, busy: undefined }, noted: ['worker 0 failed'] },
      { changed: ['worker 0'] },
    ],
    [
      'ends with the shortest retry time when all its workers are busy',
      [busy(9_000), busy(4_000), busy(7_000)],
      { end: { ...failed, busy: { retryAfterMs: 4_000 } } },
    ],
    [
      'ends without a retry time if one worker failed for another reason',
      [busy(9_000), FAILS],
      { end: { ...failed, busy: undefined } },
    ],
    [
      'ends with the time of the next probe when no worker listens',
      [away, away],
      {
        end: { ...failed, busy: { retryAfterMs: 5_000 } },
        noted: ['worker 0 refused', 'worker 1 refused'],
      },
    ],
    [
      'blames the worker with the proof on the ledger, not those that refuse',
      [notOpen, notOpen, notOpen],
      { noted: ['worker 0 busy', 'worker 0 failed', 'worker 1 busy', 'worker 2 busy'] },
      { undelivered: () => proofOfFirst },
    ],
    [
      'blames a worker once, also for a proof that the ledger shows later',
      [FAILS, FAILS, FAILS],
      { noted: ['worker 0 failed', 'worker 1 failed', 'worker 2 failed'] },
      { undelivered: (asked) => (asked > 1 ? proofOfFirst : undefined) },
    ],
    [
      'ends as too long when a worker says so before any text',
      [{ code: 'context_length_exceeded' }],
      { end: { kind: 'context_exceeded' } },
    ],
    [
      'fails when a worker says that it is too long after its first text',
      [{ texts: ['Hello'], code: 'context_length_exceeded' }],
      { end: { ...failed, reason: 'worker_error' } },
    ],
    [
      'fails when a worker says after its first text that it has none',
      [{ texts: ['Hello'], code: 'empty_output' }],
      { end: { ...failed, reason: 'worker_error' } },
    ],
  ])('%s', async (...[, turns, outcome, circumstances]) => {
    expect(await answer(turns, circumstances)).toMatchObject(outcome);
  });

  it('is dispatched on after a second while the database shows no workers', async () => {
    const answering = answer([FAILS, FAILS], { refresh: () => new Promise(() => undefined) });
    await jest.advanceTimersByTimeAsync(2_000);
    expect((await answering).started).toEqual([1, 2]);
  });
});

describe('a client that disconnects after the first text', () => {
  it.each([
    ['has its stream stopped and proven, because it has read the text', true, 'failed', true],
    ['has its plain answer cancelled, because it read nothing', false, 'client_gone', false],
  ])('%s', async (_title, isStream, kind, expected) => {
    const leaving = new AbortController();
    let isStopped = false;
    async function* submit(_task: WorkerTask, signal: AbortSignal) {
      yield [{ type: 'content', text: 'Hello' }];
      leaving.abort();
      if (signal.aborted || isStopped) throw new WorkerFailedError('connection_lost');
      yield [{ type: 'content', text: ', and on it goes' }];
    }
    const stop = async () => {
      isStopped = true;
    };
    const workers = { submit, stop } as unknown as DispatchServices['workers'];
    const { end } = await answer([FAILS], { workers, clientGone: leaving.signal, isStream });
    expect([end?.kind, isStopped]).toEqual([kind, expected]);
  });
});

describe("a request that a model's server refuses", () => {
  const refuses: Turn = { code: 'request_refused' };
  const refusesTopK: Turn = { code: 'parameter_refused', param: 'top_k' };

  it.each<Case>([
    ...['invalid_request', 'body_too_large', 'request_refused'].map(
      (code): Case => [
        `is asked of one more worker, and counts against neither: ${code}`,
        [{ code }, { code }, 'Hello'],
        { end: refused, started: [1, 2], noted: [] },
      ],
    ),
    [
      'counts against the worker that refused what another answers',
      [refuses, 'Hello', FAILS],
      { end: undefined, delivered: ['Hello'], noted: ['worker 0 failed'] },
    ],
    [
      'stays refused where another worker fails, and that one is blamed',
      [refuses, FAILS, 'Hello'],
      { end: refused, started: [1, 2], noted: ['worker 1 failed'] },
    ],
    [
      'stays refused where another worker’s text breaks off',
      [refuses, { texts: ['Half of'] }, FAILS],
      { end: refused, noted: ['worker 1 failed'] },
    ],
    [
      'names the field that was refused first',
      [refusesTopK, refuses],
      { end: { ...refused, param: 'top_k' } },
      { chat: { top_k: 20 } },
    ],
    [
      'is a worker’s failure where it names a field that was not sent',
      [refusesTopK],
      { end: failed, noted: ['worker 0 failed'] },
    ],
  ])('%s', async (...[, turns, outcome, circumstances]) => {
    expect(await answer(turns, circumstances)).toMatchObject(outcome);
  });
});
