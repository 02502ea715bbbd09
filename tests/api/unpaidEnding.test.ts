import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { JobWork } from '../../api/completion/jobWork.ts';
import { createUnpaidEnding } from '../../api/completion/unpaidEnding.ts';
import type { Escrow, JobEnd, LockedJob } from '../../api/ledger/escrow.ts';
import type { LedgerClock } from '../../programs/client/sender/ledgerClock.ts';
import { delay } from '../../runtime/wait.ts';

const REFUND: JobEnd = { status: 'refunded', signature: 'the refund' };
const job = { id: 'job_1', lockCredits: 8n, deadlines: { refundableAt: 0n } } as LockedJob;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** A job whose refund is confirmed after so long, and never shows in the mirror. */
function endOverdue(refundAfterMs: number) {
  const escrow: Partial<Escrow> = { refund: () => delay(refundAfterMs).then(() => REFUND) };
  const clock: Partial<LedgerClock> = { waitUntil: async () => undefined };
  const work: JobWork = {
    keepGoing: (_job, going) => going,
    mirrored: (_job, _end, { timeoutMs }) => delay(timeoutMs).then(() => undefined),
  };
  const unpaid = createUnpaidEnding({
    escrow: escrow as Escrow,
    clock: clock as LedgerClock,
    work,
  });
  const startMs = performance.now();
  return unpaid.end(job, { kind: 'overdue' }).then(({ code, options }) => ({
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
  ])('whose refund takes %d ms is told with %s after %d ms', async (refundMs, refundTx, tookMs) => {
    const told = endOverdue(refundMs);
    await jest.advanceTimersByTimeAsync(20_000);
    expect(await told).toEqual({ code: 'job_timeout', refundTx, tookMs });
  });
});
