import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { UnprovenResult } from '../../api/jobs/attempt.ts';
import type { JobWork } from '../../api/jobs/jobWatch.ts';
import { endingError, refundUnproven, refundWhenDue } from '../../api/jobs/refund.ts';
import type { Escrow } from '../../api/ledger/escrow.ts';
import type { LockedJob } from '../../api/ledger/job.ts';
import type { JobResult } from '../../api/ledger/results.ts';
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

/** What a job fails by, without a ledger's time or a mirror. */
const failing = (fail: Escrow['fail']) => ({
  escrow: { fail } as Partial<Escrow> as Escrow,
  clock: {} as LedgerClock,
  work: { trackToEnd: (_job, going) => going, awaitMirror: async () => undefined } as JobWork,
});

describe('a job without a charge', () => {
  const failed: UnprovenResult = {
    ...{ kind: 'failed', reason: 'proof_invalid', hasBegun: true, cause: 'proof_invalid' },
  };

  it.each([
    // Blamed on no wallet: who leaves workers unpaid too often loses its key.
    [{ kind: 'context_exceeded' }, 'context_length_exceeded', 'context_length_exceeded'],
    [{ kind: 'client_gone' }, 'client_gone', 'worker_failed'],
    [failed, 'proof_invalid', 'worker_failed'],
  ] as const)(
    'after %j fails on the ledger as %s and is reported as %s',
    async (end, reason, code) => {
      const fail = jest.fn<Escrow['fail']>(async () => FAILURE);
      const services = failing(fail);
      const ended = await refundUnproven(
        services,
        { ...job, model: { id: 'm' } } as LockedJob,
        end,
      );
      expect(fail.mock.lastCall?.[1]).toBe(reason);
      expect(ended).toMatchObject({ code, options: { details: { refund_tx: 'the failure' } } });
    },
  );
});

describe('a job whose model thought until its token limit', () => {
  it.each([
    [1, 'empty_output'],
    [256, 'empty_output'],
    // An honest client's lot: it counts against no wallet.
    [257, 'worker_error'],
  ])('of %d tokens fails on the ledger as %s', async (tokenLimit, reason) => {
    const fail = jest.fn<Escrow['fail']>(async () => FAILURE);
    const services = failing(fail);
    await refundUnproven(services, { ...job, tokenLimit }, { kind: 'limit_reached' });
    expect(fail.mock.lastCall?.[1]).toBe(reason);
  });
});

describe('a job that no worker had a place for', () => {
  it.each([
    [undefined, 1],
    [1_001, 2],
    [25_000, 25],
    [90_000, 60],
  ])(
    'for %p ms is answered 503 with Retry-After: %d, of 1 to 60 whole seconds',
    async (retryAfterMs, retryAfterSeconds) => {
      const fail = jest.fn<Escrow['fail']>(async () => FAILURE);
      const services = failing(fail);
      const end: UnprovenResult = {
        ...{ kind: 'failed', reason: 'worker_error', hasBegun: false, cause: 'no_free_slot' },
        busy: { retryAfterMs },
      };
      const ended = await refundUnproven(
        services,
        { ...job, model: { id: 'm' } } as LockedJob,
        end,
      );
      expect(ended).toMatchObject({ code: 'no_workers_available', options: { retryAfterSeconds } });
      // No worker took it, so none is recorded for it.
      expect(fail.mock.lastCall?.[2]).toEqual({ hadWorker: false });
    },
  );
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
