import { describe, expect, it } from '@jest/globals';
import type { ConsoleJob } from '../../api/contracts/index.ts';
import { spansOf } from '../../console/pages/jobs/spans.ts';
import { stepsOf } from '../../console/pages/jobs/steps.ts';

const LOCKED_AT = '2026-11-25T08:00:00.000Z';
const LATER = '2026-11-25T08:00:04.000Z';
const LAST = '2026-11-25T08:00:09.000Z';
const WORKER = '5zBs9W9qKBLRufV1nFwJmxANgPtnPE8sCmnRg3L8yF';

const settled = {
  ...{ status: 'settled', locked_credits: 8, credits_charged: 3, attempt: 1 },
  ...{ created_at: LOCKED_AT, acknowledged_at: LATER, proven_at: LATER, settled_at: LATER },
  ...{ completed_at: LATER, dispute: null, worker_address: WORKER },
} as ConsoleJob;

const timesOf = (job: ConsoleJob) => stepsOf(job).map(({ name, at }) => [name, at]);

describe('the timeline of a job', () => {
  it('shows in one place what one event did', () => {
    expect(stepsOf(settled)).toEqual([
      { name: 'Locked', what: '8 credits are set aside.', at: LOCKED_AT },
      {
        name: 'Acknowledged, proven, settled',
        what: 'By the worker 5zBs…L8yF. The worker signed the hash of its text, and one that binds the question and any calls of tools. 3 credits charged, 5 returned.',
        at: LATER,
      },
    ]);
  });

  it('shows an earlier acknowledgement apart', () => {
    const acknowledged = { ...settled, proven_at: LAST, settled_at: LAST, completed_at: LAST };
    expect(timesOf(acknowledged)).toEqual([
      ['Locked', LOCKED_AT],
      ['Acknowledged', LATER],
      ['Proven, settled', LAST],
    ]);
  });

  it('keeps apart what has not happened', () => {
    const none = { acknowledged_at: null, proven_at: null, settled_at: null, completed_at: null };
    expect(timesOf({ ...settled, ...none, status: 'pending' })).toEqual([
      ['Locked', LOCKED_AT],
      ['Acknowledged', null],
      ['Proven', null],
      ['Settled', null],
    ]);
    const [, again] = stepsOf({ ...settled, ...none, attempt: 2 });
    expect(again?.what).toBe('By the worker 5zBs…L8yF, in attempt 2.');
    const failed = { ...settled, ...none, acknowledged_at: LATER, completed_at: LATER };
    expect(timesOf({ ...failed, status: 'failed' })).toEqual([
      ['Locked', LOCKED_AT],
      ['Acknowledged', LATER],
      ['Proven', null],
      ['Failed', LATER],
    ]);
  });
});

const timings = { lock_ms: 20, first_token_ms: 30, worker_ms: 100, settlement_ms: 15 };

describe("the bars of a job's stages", () => {
  it('follow each other, and each is as long as its stage took', () => {
    expect(spansOf(timings)).toEqual([
      { name: 'Lock', fromMs: 0, toMs: 20 },
      { name: 'First token', fromMs: 20, toMs: 50 },
      { name: 'Answer', fromMs: 50, toMs: 120 },
      { name: 'Settlement', fromMs: 120, toMs: 135 },
    ]);
  });

  it('leave out stages that did not happen', () => {
    expect(spansOf({ ...timings, first_token_ms: null, settlement_ms: null })).toEqual([
      { name: 'Lock', fromMs: 0, toMs: 20 },
      { name: 'Answer', fromMs: 20, toMs: 120 },
    ]);
    expect(spansOf({ ...timings, lock_ms: null })).toEqual([]);
  });
});
