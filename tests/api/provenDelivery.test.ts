import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { ProvenAnswer } from '../../api/completion/attempt.ts';
import { createKeepAnswer, type KeepingContext } from '../../api/completion/keepAnswer.ts';
import { createProvenDelivery, type RequestContext } from '../../api/completion/provenDelivery.ts';
import type { ApiError } from '../../api/errors.ts';
import type { Escrow, JobEnd, LockedJob } from '../../api/ledger/escrow.ts';
import { createLogger } from '../../runtime/logger.ts';
import { delay } from '../../runtime/wait.ts';

// What a whole service cannot be made to do at will: the ledger's word in time, the mirror's not.

const SETTLED: JobEnd = { status: 'settled', signature: 'a settlement' };
const never = () => new Promise<never>(() => undefined);
const job = {
  id: 'job',
  model: { id: 'model' },
  tokenLimit: 10,
  lockCredits: 8n,
} as unknown as LockedJob;
const answer = {
  ...{ text: 'a text', finishReason: 'stop', engine: null, slot: { worker: { address: 'w' } } },
  proof: { promptTokens: 1, completionTokens: 2, outputHash: new Uint8Array(32) },
} as unknown as ProvenAnswer;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** What the client is told of the settlement, and after how long. */
async function deliver(options: {
  isStream: boolean;
  settle: Escrow['settle'];
  outputTokens?: number;
  mirrored?: () => Promise<unknown>;
  store?: () => Promise<void>;
  refundWhenDue?: () => Promise<JobEnd>;
  /** Told of each step as it is made. */
  onStep?: (step: string) => void;
}) {
  const { isStream, settle, mirrored = never, store = async () => undefined } = options;
  const { onStep = () => undefined } = options;
  let told: unknown;
  const keepAnswer = createKeepAnswer({
    tokens: { output: async () => options.outputTokens ?? 2 },
    logger: createLogger({ name: 'test', level: 'silent' }),
    signReceipt: () => {
      onStep('receipt');
      return 'a receipt';
    },
  });
  const deliverProven = createProvenDelivery({
    escrow: { settle },
    work: { keepGoing: (_job: LockedJob, work: Promise<unknown>) => work, mirrored },
    unpaid: { refundWhenDue: options.refundWhenDue },
  } as unknown as Parameters<typeof createProvenDelivery>[0]);
  const startedMs = performance.now();
  const context = {
    isStream,
    claim: {
      store() {
        onStep('copy');
        return store();
      },
    },
    created: 1,
    stages: { mark: () => undefined, header: () => '' },
    response: { headersSent: true },
    delivery: {
      finish: () => onStep('finish'),
      settled: (settlement: object) => {
        told = { ...settlement, afterMs: Math.round(performance.now() - startedMs) };
      },
      fail: ({ code, options: { details } }: ApiError) => {
        told = { code, ...details };
      },
    },
  } as unknown as RequestContext & KeepingContext;
  void keepAnswer(job, answer, context).then((kept) => deliverProven(job, answer, kept, context));
  await jest.advanceTimersByTimeAsync(60_000);
  return told;
}

describe('what a settlement counts', () => {
  it.each([
    ['as we count', 7, 7],
    ['never more than the limit that was locked for', 11, 10],
  ])('is the tokens %s', async (_how, ours, counted) => {
    const settle = jest.fn<Escrow['settle']>(async () => SETTLED);
    await deliver({ isStream: false, settle, outputTokens: ours });
    expect(settle).toHaveBeenCalledWith(job, answer, counted, expect.any(Promise));
  });
});

describe('the last words of an answer', () => {
  it.each([
    ['leave before anything else is done, in a stream', true, ['finish', 'receipt', 'copy']],
    [
      'are put together while the copy is being stored, in a plain one',
      false,
      ['receipt', 'copy', 'finish'],
    ],
  ])('%s', async (_when, isStream, expected) => {
    const steps: string[] = [];
    const settle = async () => {
      steps.push('settlement');
      return SETTLED;
    };
    await deliver({ isStream, settle, onStep: (step) => void steps.push(step) });
    expect(steps).toEqual([...expected, 'settlement']);
  });
});

describe.each([
  ['a plain answer', false, 10_000],
  ['a stream', true, 3_000],
] as const)('%s', (_form, isStream, waitMs) => {
  it('tells of a settlement that the mirror does not show in time', async () => {
    const told = await deliver({ isStream, settle: async () => SETTLED });
    expect(told).toMatchObject({
      ...{ settlementTx: 'a settlement', creditsRemaining: null },
      afterMs: waitMs,
    });
  });

  it('tells at once what both show', async () => {
    const mirrored = async () => ({ available_credits: 7n });
    const told = await deliver({ isStream, settle: async () => SETTLED, mirrored });
    expect(told).toMatchObject({
      ...{ settlementTx: 'a settlement', creditsRemaining: 7 },
      afterMs: 0,
    });
  });

  it.each([
    ['once it is kept for repeats', 1_500, 1_500],
    ['after 2 s where it cannot be kept in time', 60_000, 2_000],
  ])('may be settled %s', async (_when, keptAfterMs, settledAfterMs) => {
    let settledMs: number | undefined;
    const startedMs = performance.now();
    await deliver({
      isStream,
      store: () => delay(keptAfterMs),
      settle: async (_job, _answer, _countedTokens, kept) => {
        await kept;
        settledMs = Math.round(performance.now() - startedMs);
        return SETTLED;
      },
    });
    expect(settledMs).toBe(settledAfterMs);
  });

  it('is settled where it cannot be kept at all', async () => {
    const store = () => Promise.reject(new Error('the database is away'));
    const told = await deliver({ isStream, store, settle: async () => SETTLED });
    expect(told).toMatchObject({ settlementTx: 'a settlement' });
  });

  it('whose settlement came too late is refunded, and its client does not hear of a charge', async () => {
    const refund: JobEnd = { status: 'refunded', signature: 'a refund' };
    const told = await deliver({
      isStream,
      settle: async () => ({ status: 'overdue' }),
      mirrored: async () => ({ available_credits: 7n }),
      refundWhenDue: async () => refund,
    });
    expect(told).toMatchObject(
      isStream
        ? { settlementTx: null, creditsRemaining: null }
        : { code: 'job_timeout', credits_refunded: 8, refund_tx: 'a refund' },
    );
  });

  it('waits no longer where the ledger says nothing either', async () => {
    const told = await deliver({ isStream, settle: never });
    expect(told).toMatchObject({ settlementTx: null, afterMs: waitMs });
  });
});
