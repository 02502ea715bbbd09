import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { DispatchServices } from '../../api/jobs/dispatch.ts';
import type { WorkerTask } from '../../api/workers/client.ts';
import { WorkerFailedError } from '../../api/workers/events.ts';
import { answer, type Circumstances, STOP_AT, type Turn } from './dispatchScene.ts';

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] }));
afterEach(() => void jest.useRealTimers());

const PLAIN: Circumstances = { isStream: false };
const at = (nowSeconds: bigint): Circumstances => ({ nowSeconds });

/** Workers that say this in their turns, then what comes of the job. */
type Case = [title: string, turns: Turn[], outcome: object, circumstances?: Circumstances];

const FAILS: Turn = {};
const ALL_FAIL: Turn[] = [FAILS, FAILS, FAILS];
const HEL: Turn = { texts: ['Hel'] };
const busy = (retryAfterMs?: number): Turn => ({ code: 'no_free_slot', busy: { retryAfterMs } });
const AWAY: Turn = {
  code: 'connection_failed',
  cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }),
};
const notOpen: Turn = { code: 'job_not_open', busy: { retryAfterMs: undefined } };
const PROOF = { workerAddress: 'worker 0', attempt: 1 };

/** Ends of a job, and what they say of when it may be asked again. */
const failed = { kind: 'failed', busy: undefined };
const unbegun = { ...failed, hasBegun: false };
const begun = { ...failed, hasBegun: true, reason: 'worker_error' };
const again = (retryAfterMs: unknown) => ({ kind: 'failed', busy: { retryAfterMs } });
const refused = { kind: 'refused' };
/** What is noted of the workers, in their order. */
const notes = (...of: string[]) => ({ noted: of.map((what, at) => `worker ${at} ${what}`) });
const both = ['worker 0', 'worker 1'];
const tooLong = 'context_length_exceeded';

describe('a job with failing workers', () => {
  it.each<Case>([
    ['is asked of three of four', [...ALL_FAIL, FAILS], { end: unbegun, started: [1, 2, 3] }],
    ['restarts in plain after text', [HEL, HEL], { started: [1, 2], discarded: [1] }, PLAIN],
    ['ends in a stream after text', [FAILS, HEL, FAILS], { end: begun, started: [1, 2] }],
    ['goes on while it can be proven', [FAILS, FAILS], { started: [1, 2] }, at(STOP_AT - 1n)],
    ['ends when none could prove it', [FAILS, FAILS], { started: [1] }, at(STOP_AT)],
    [
      'is blamed on none that left, moved or changed its key by then',
      [FAILS, FAILS],
      { end: again(expect.any(Number)), ...notes('busy', 'busy') },
      { changed: both },
    ],
    ['is blamed on who broke off', [HEL], { end: begun, ...notes('failed') }, { changed: both }],
    ['waits as long as the least busy', [busy(9), busy(4), busy(7)], { end: again(4) }],
    ['waits for none if one failed', [busy(9), FAILS], { end: failed }],
    [
      'waits for the next probe',
      [AWAY, AWAY],
      { end: again(5_000), ...notes('refused', 'refused') },
    ],
    [
      'is blamed on who has a proof on the ledger, not on those that refuse',
      [notOpen, notOpen, notOpen],
      { noted: ['worker 0 busy', 'worker 0 failed', 'worker 1 busy', 'worker 2 busy'] },
      { undelivered: () => PROOF },
    ],
    [
      'is blamed on each once, also for a proof that the ledger shows later',
      ALL_FAIL,
      notes('failed', 'failed', 'failed'),
      { undelivered: (asked) => (asked > 1 ? PROOF : undefined) },
    ],
    [
      'is too long for the first to say so',
      [{ code: tooLong }],
      { end: { kind: 'context_exceeded' } },
    ],
    [
      'is blamed on who says that it is busy after text',
      [{ texts: ['Hel'], code: 'no_free_slot', busy: { retryAfterMs: 9 } }],
      { end: begun, ...notes('failed') },
    ],
    ['is not too long after text', [{ ...HEL, code: tooLong }], { end: begun }],
    ['is not empty after text', [{ ...HEL, code: 'empty_output' }], { end: begun }],
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
  const sent = { chat: { top_k: 20 } };
  const second = ['worker 1 failed'];
  const refusesTopK: Turn = { code: 'parameter_refused', param: 'top_k' };

  const asked = { end: refused, started: [1, 2], noted: [] };

  it.each<Case>([
    ['is asked of one more, and counts against neither', [refuses, refuses, 'Hello'], asked],
    ['is so, too, where it is invalid', [{ code: 'invalid_request' }, refuses, 'Hello'], asked],
    ['is so, too, where it is too large', [{ code: 'body_too_large' }, refuses, 'Hello'], asked],
    ['counts where another answers', [refuses, 'Hello'], { end: undefined, ...notes('failed') }],
    ['stays refused where another fails', [refuses, FAILS], { end: refused, noted: second }],
    ['stays refused where another breaks off', [refuses, HEL], { end: refused, noted: second }],
    ['names the field', [refusesTopK, refuses], { end: { ...refused, param: 'top_k' } }, sent],
    ['names no field that was not sent', [refusesTopK], { end: failed, ...notes('failed') }],
  ])('%s', async (...[, turns, outcome, circumstances]) => {
    expect(await answer(turns, circumstances)).toMatchObject(outcome);
  });
});
