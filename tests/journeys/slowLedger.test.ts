import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Ed25519Program, VersionedTransaction } from '@solana/web3.js';
import { untilSampled } from '../support/apiMetrics.ts';
import { askCompletion, openCompletion, readAnswer } from '../support/askCompletion.ts';
import { type GatedService, startGatedService } from '../support/gatedService.ts';
import { playInTwoParts } from '../support/scriptedEngine.ts';
import { untilEnded, untilLocked } from '../support/walletBooks.ts';

jest.setTimeout(120_000);

const CREDITS = 100n;
/** After this a job may be refunded; for some seconds before, nothing is signed for it. */
const JOB_SECONDS = 120;
const UNSAFE_SECONDS = 116;
/** Once a lock has waited so long for its turn, there is no place behind it. */
const QUEUE_MS = 5_000;
const settled = { status: 'settled', reason: 'none', charged: 8n };
let service: GatedService;

beforeAll(async () => {
  service = await startGatedService({ METRICS_PORT: '0', SVC_SUBMISSIONS_MAX: '1' });
});

afterAll(() => service?.close());

/** Begins a stream that goes on when the test says so. */
async function beginStream(apiKey: string) {
  const end = playInTwoParts(service.engine);
  const response = await openCompletion(service, { form: 'stream', apiKey });
  return { answer: readAnswer(response), end };
}

/** Holds what is sent to the ledger until it is let go, and tells of what kind it was. */
function holdLedger() {
  const going = Promise.withResolvers<void>();
  const sent: ('settlement' | 'other')[] = [];
  service.ledgerGate.setRoad(async (request, forward) => {
    if (request.method === 'sendTransaction') {
      const bytes = Buffer.from(String(request.params[0]), 'base64');
      const { staticAccountKeys } = VersionedTransaction.deserialize(bytes).message;
      const isProving = staticAccountKeys.some((key) => key.equals(Ed25519Program.programId));
      sent.push(isProving ? 'settlement' : 'other');
      await going.promise;
    }
    return forward(request);
  });
  return { sent, letGo: going.resolve };
}

/** Two streams are under way, and the settlement of the first keeps the ledger's only place. */
async function occupyLedger() {
  const { address, apiKey } = await service.addWallet(CREDITS);
  const [first, second] = [await beginStream(apiKey), await beginStream(apiKey)];
  await untilLocked(service, address, 2);
  const { sent, letGo } = holdLedger();
  first.end();
  await untilWaiting('settlements', 1);
  return { address, apiKey, first, second, sent, letGo };
}

const untilWaiting = (lane: string, transactions: number) =>
  untilSampled(
    service,
    `svc_api_transactions_in_flight{lane="${lane}"}`,
    (waiting) => waiting === transactions,
  );

describe('on a ledger that is slower than the workers', () => {
  it('answers that were delivered are settled before new jobs are begun', async () => {
    const { address, apiKey, first, second, sent, letGo } = await occupyLedger();
    const asking = askCompletion(service, { form: 'plain', apiKey });
    await untilWaiting('locks', 1);
    second.end();
    await untilWaiting('settlements', 2);
    letGo();

    for (const answer of [first.answer, second.answer, asking]) {
      expect(await answer).toMatchObject({ status: 200, error: undefined });
    }
    expect(sent.slice(0, 3)).toEqual(['settlement', 'settlement', 'other']);
    expect(await untilEnded(service, address, 3)).toEqual({
      ...{ available: CREDITS - 24n, locked: 0n },
      jobs: [settled, settled, settled],
    });
  });

  it('what would only wait in vain for its lock is refused at once, and nothing is charged', async () => {
    const { address, apiKey, first, second, letGo } = await occupyLedger();
    const waiting = askCompletion(service, { form: 'plain', apiKey });
    await untilWaiting('locks', 1);
    const now = performance.now.bind(performance);
    const later = jest.spyOn(performance, 'now').mockImplementation(() => now() + QUEUE_MS);
    const refused = await askCompletion(service, { form: 'plain', apiKey });
    later.mockRestore();
    expect(refused).toMatchObject({
      ...{ status: 503, error: { code: 'service_unavailable' } },
      headers: { 'retry-after': '5' },
    });
    second.end();
    letGo();

    for (const answer of [first.answer, second.answer, waiting]) {
      expect(await answer).toMatchObject({ status: 200, error: undefined });
    }
    expect(await untilEnded(service, address, 3)).toEqual({
      ...{ available: CREDITS - 24n, locked: 0n },
      jobs: [settled, settled, settled],
    });
  });

  it('no settlement is signed whose turn comes when its job may soon be refunded', async () => {
    const { address, first, second, sent, letGo } = await occupyLedger();
    second.end();
    await untilWaiting('settlements', 2);
    await service.advanceSeconds(UNSAFE_SECONDS);
    await untilSampled(
      service,
      'svc_api_ledger_clock_offset_seconds',
      // Whole seconds are read and set, so that up to two are lost.
      (offset) => offset > UNSAFE_SECONDS - 3,
    );
    letGo();

    for (const { answer } of [first, second]) {
      expect(await answer).toMatchObject({ status: 200, error: undefined });
    }
    await service.advanceSeconds(JOB_SECONDS - UNSAFE_SECONDS + 1);
    const { jobs } = await untilEnded(service, address, 2);
    expect(jobs[1]).toMatchObject({ status: 'refunded', charged: 0n });
    expect(sent.filter((kind) => kind === 'settlement')).toHaveLength(1);
    await service.expectConserved();
  });
});
