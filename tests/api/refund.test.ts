import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { UnprovenResult } from '../../api/jobs/attempt.ts';
import type { JobWork } from '../../api/jobs/jobWatch.ts';
import { endingError, refundUnproven, refundWhenDue } from '../../api/jobs/refund.ts';
import type { Escrow } from '../../api/ledger/escrow.ts';
import type { JobResult, LockedJob } from '../../api/ledger/job.ts';
import { delay } from '../../common/wait.ts';
import type { LedgerClock } from '../../programs/client/sender/ledgerClock.ts';

const FAILURE: JobResult = { status: 'failed', signature: 'the failure' };
const REFUND: JobResult = { status: 'refunded', signature: 'the refund' };
const job = { id: 'job_1', lockCredits: 8n, deadlines: { refundableAt: 0n } } as LockedJob;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** A job whose refund is confirmed after so long, and never shows in the mirror. */
function endOverdue(refundAfterMs: number) {
  const escrow: Partial<Escrow> = { refund: () => delay(refundAfterMs).then(() => REFUND) };
  const clock: Partial<LedgerClock> = { waitUntil: async () => undefined };
  const work: JobWork = {
    trackToEnd: (_job, going) => going,
    awaitMirror: (_job, _end, { timeoutMs }) => delay(timeoutMs).then(() => undefined),
  };
  const services = { escrow: escrow as Escrow, clock: clock as LedgerClock, work };
  const startMs = performance.now();
  const refunding = refundUnproven(services, job, { kind: 'overdue', isExcused: false });
  return refunding.then(({ code, options }) => ({
    code,
    refundTx: options.details?.refund_tx,
    tookMs: performance.now() - startMs,
  }));
}

describe('a time-out', () => {
  it.each([
    [1_000, 'the refund', 4_000],
    [14_000, 'the refund', 15_000],
    [16_000, null, 15_000],
  ])(
    'is reported, with a refund that takes %d ms, as %s after %d ms',
    async (refundMs, refundTx, tookMs) => {
      const ended = endOverdue(refundMs);
      await jest.advanceTimersByTimeAsync(20_000);
      expect(await ended).toEqual({ code: 'job_timeout', refundTx, tookMs });
    },
  );
});

describe('a job without a charge', () => {
  const failed = { kind: 'failed', hasBegun: true, cause: 'a fault' } as const;
  const unserved = { ...failed, reason: 'worker_error', hasBegun: false } as const;
  const later = (retryAfterSeconds: number) => ({
    ...{ code: 'no_workers_available', options: { retryAfterSeconds } },
  });
  const refunded = (code: string) => ({ code, options: { details: { refund_tx: 'the failure' } } });

  /** A token limit, how the job ended, what the ledger is to say of it, and what its client gets. */
  it.each<[number, UnprovenResult, string, object]>([
    // Blamed on no wallet: who leaves workers unpaid too often loses its key.
    [
      9,
      { kind: 'context_exceeded' },
      'context_length_exceeded',
      refunded('context_length_exceeded'),
    ],
    [9, { kind: 'client_gone' }, 'client_gone', refunded('worker_failed')],
    [9, { ...failed, reason: 'proof_invalid' }, 'proof_invalid', refunded('worker_failed')],
    [1, { kind: 'limit_reached' }, 'empty_output', {}],
    [256, { kind: 'limit_reached' }, 'empty_output', {}],
    // An honest client's lot: it counts against no wallet.
    [257, { kind: 'limit_reached' }, 'worker_error', {}],
    [9, { ...unserved, busy: { retryAfterMs: undefined } }, 'worker_error', later(1)],
    [9, { ...unserved, busy: { retryAfterMs: 1_001 } }, 'worker_error', later(2)],
    [9, { ...unserved, busy: { retryAfterMs: 25_000 } }, 'worker_error', later(25)],
    [9, { ...unserved, busy: { retryAfterMs: 90_000 } }, 'worker_error', later(60)],
  ])('of %i tokens that ends so, %j, fails as %s', async (tokenLimit, end, reason, expected) => {
    const fail = jest.fn<Escrow['fail']>(async () => FAILURE);
    const services = {
      escrow: { fail } as Partial<Escrow> as Escrow,
      clock: {} as LedgerClock,
      work: { trackToEnd: (_job, going) => going, awaitMirror: async () => undefined } as JobWork,
    };
    const asked = { ...job, model: { id: 'm' }, tokenLimit } as LockedJob;
    expect(await refundUnproven(services, asked, end)).toMatchObject(expected);
    expect(fail.mock.lastCall?.[1]).toBe(reason);
    // No worker took what none had a place for, so none is recorded for it.
    const isUnserved = 'busy' in end && end.busy !== undefined;
    expect(fail.mock.lastCall?.[2]?.hadWorker === false).toBe(isUnserved);
  });
});

describe('a job whose worker left before its settlement', () => {
  it('is answered 503, since another worker may do', () => {
    const result: JobResult = { ...FAILURE, hasWorkerLeft: true };
    const ended = endingError({ ...job, model: { id: 'm' } } as LockedJob, {
      ...{ result, record: undefined },
    });
    expect(ended).toMatchObject({
      code: 'no_workers_available',
      options: { retryAfterSeconds: 1 },
    });
  });
});

describe('a refund', () => {
  it('is not sent before its time', async () => {
    const due = Promise.withResolvers<void>();
    const refund = jest.fn<Escrow['refund']>(async () => REFUND);
    const waitUntil = jest.fn<LedgerClock['waitUntil']>(() => due.promise);
    const escrow = { refund } as Partial<Escrow> as Escrow;
    const clock = { waitUntil } as Partial<LedgerClock> as LedgerClock;
    const refunding = refundWhenDue({ escrow, clock }, job);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(refund).not.toHaveBeenCalled();
    expect(waitUntil).toHaveBeenCalledWith(job.deadlines.refundableAt);
    due.resolve();
    expect(await refunding).toBe(REFUND);
  });
});
