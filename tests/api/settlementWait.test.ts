import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { awaitSettlement, settlementOf } from '../../api/jobs/settlement.ts';
import { jobDeadlines } from '../../api/ledger/lockOnLedger.ts';
import type { JobProgress } from '../../api/sql/jobs.ts';
import { delay } from '../../common/wait.ts';

const WAIT_MS = 10_000;
const END = { status: 'settled', signature: 'the settlement' } as const;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** What a client learns of a settlement that the ledger has, and the mirror shows, after so long. */
async function settlementSeen({ ledgerMs, mirrorMs }: { ledgerMs: number; mirrorMs: number }) {
  const startMs = performance.now();
  const known = awaitSettlement(WAIT_MS, {
    result: delay(ledgerMs).then(() => END),
    record: delay(mirrorMs).then(() => ({ available_credits: 92n }) as JobProgress),
  }).then((found) => ({ ...settlementOf(found), tookMs: performance.now() - startMs }));
  await jest.advanceTimersByTimeAsync(2 * WAIT_MS);
  return known;
}

describe('a finished answer whose settlement', () => {
  const settlementTx = 'the settlement';

  it.each([
    [1_000, 4_000, { settlementTx, creditsRemaining: 92, tookMs: 4_000 }],
    [9_000, 9_900, { settlementTx, creditsRemaining: 92, tookMs: 9_900 }],
    [9_000, 11_000, { settlementTx, creditsRemaining: null, tookMs: WAIT_MS }],
    [11_000, 12_000, { settlementTx: null, creditsRemaining: null, tookMs: WAIT_MS }],
  ])(
    'is on the ledger after %d ms and mirrored after %d ms gets %o',
    async (ledgerMs, mirrorMs, expected) => {
      expect(await settlementSeen({ ledgerMs, mirrorMs })).toEqual(expected);
    },
  );
});

describe('the deadlines of a job', () => {
  it('stop it 15 s, end its settlement 5 s before T and refund it 1 s after T', () => {
    expect(
      jobDeadlines({ lockedAtEarliest: 1_000n, lockedAtLatest: 1_003n, timeoutSeconds: 120n }),
    ).toEqual({ stopAt: 1_105n, proofDueAt: 1_115n, refundableAt: 1_124n });
  });
});
