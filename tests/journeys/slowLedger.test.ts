import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { TransactionInstruction } from '@solana/web3.js';
import { PROOF_BEFORE_END_SECONDS } from '../../common/workerProtocol.ts';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import { JOB_TIMEOUT_SECONDS } from '../../programs/client/generated/constants.ts';
import { COSTS } from '../../programs/client/sender/index.ts';
import { decodeTransaction } from '../../programs/client/wire/index.ts';
import { coder } from '../../testing/ledger/anchorCoder.ts';
import { sentInstructions } from '../../testing/ledger/ledgerGate.ts';
import { untilDispatched, untilEnded } from '../../testing/ledger/walletBooks.ts';
import { type GatedService, startGatedService } from '../../testing/service/gatedService.ts';
import {
  openCompletion,
  readAnswer,
  requestCompletion,
  untilSampled,
} from '../../testing/service/requestCompletion.ts';
import { until } from '../../testing/until.ts';
import { answerInTwoParts } from '../../testing/workers/engines.ts';

const CREDITS = 100n;
/** From here on nothing is signed for a job, and after its timeout it may be refunded. */
const UNSAFE_SECONDS = JOB_TIMEOUT_SECONDS - Number(PROOF_BEFORE_END_SECONDS) + 1;
/** Once a lock has waited so long for its turn, there is no place behind it. */
const QUEUE_MS = 5_000;
const settled = { status: 'settled', reason: 'none', charged: 8n };
/** Micro-lamports for a compute unit. */
const PRIORITY_FEE = 4_321;
let service: GatedService;

beforeAll(async () => {
  service = await startGatedService({ METRICS_PORT: '0', SVC_SUBMISSIONS_MAX: '1' });
});

afterAll(() => service?.close());

/** Begins a stream that goes on when the test says so. */
async function beginStream(apiKey: string) {
  const end = answerInTwoParts(service.engine);
  const response = await openCompletion(service, { form: 'stream', apiKey });
  return { answer: readAnswer(response), end };
}

const isCompleting = ({ programId, data }: TransactionInstruction) =>
  programId.equals(PROGRAM_ID) && coder.instruction.decode(data)?.name === 'job_complete';

/** Holds what is sent to the ledger until it is released, and reports of what kind it was. */
function holdLedger() {
  const going = Promise.withResolvers<void>();
  const kinds: ('settlement' | 'other')[] = [];
  service.ledgerGate.intercept(async (request, forward) => {
    if (request.method === 'sendTransaction') {
      kinds.push(sentInstructions(request).some(isCompleting) ? 'settlement' : 'other');
      await going.promise;
    }
    return forward(request);
  });
  return { sent: () => kinds, letGo: going.resolve };
}

/** Two streams run, and the settlement of the first keeps the ledger's only place. */
async function occupyLedger() {
  const { address, apiKey } = await service.addWallet(CREDITS);
  const [first, second] = [await beginStream(apiKey), await beginStream(apiKey)];
  await untilDispatched(service, address, 2);
  const { sent, letGo } = holdLedger();
  first.end();
  await until(async () => sent().includes('settlement'));
  await untilWaiting('settlements', 1);
  return { address, apiKey, first, second, sent, letGo };
}

const untilWaiting = (lane: string, transactions: number) =>
  untilSampled(
    service,
    `svc_api_transactions_in_flight{lane="${lane}"}`,
    (waiting) => waiting === transactions,
  );

describe('a settlement', () => {
  it('pays the priority fee that the node names', async () => {
    const { address, apiKey } = await service.addWallet(CREDITS);
    const paid = new Set<bigint | undefined>();
    service.ledgerGate.intercept(async (request, forward) => {
      if (request.method === 'getRecentPrioritizationFees') {
        const result = [{ slot: 1, prioritizationFee: PRIORITY_FEE }];
        return { jsonrpc: '2.0', id: request.id, result };
      }
      if (sentInstructions(request).some(isCompleting)) {
        const { config } = decodeTransaction(Buffer.from(String(request.params[0]), 'base64'));
        paid.add(config.priorityFeeLamports);
      }
      return forward(request);
    });
    // The first transaction asks for the fee, and does not wait for it.
    const first = await beginStream(apiKey);
    await untilDispatched(service, address, 1);
    first.end();
    expect(await first.answer).toMatchObject({ status: 200, error: undefined });
    await untilEnded(service, address, 1);
    const lamports = (COSTS.job_complete.computeUnits * PRIORITY_FEE) / 1_000_000;
    expect([...paid]).toEqual([BigInt(Math.ceil(lamports))]);
  });
});

describe('on a ledger that is slower than the workers,', () => {
  it('settlements of delivered answers come before new locks', async () => {
    const { address, apiKey, first, second, sent, letGo } = await occupyLedger();
    const asking = requestCompletion(service, { form: 'plain', apiKey });
    await untilWaiting('locks', 1);
    second.end();
    await untilWaiting('settlements', 2);
    letGo();

    for (const answer of [first.answer, second.answer, asking]) {
      expect(await answer).toMatchObject({ status: 200, error: undefined });
    }
    expect(sent().slice(0, 3)).toEqual(['settlement', 'settlement', 'other']);
    expect(await untilEnded(service, address, 3)).toEqual({
      ...{ available: CREDITS - 24n, locked: 0n },
      jobs: [settled, settled, settled],
    });
  });

  it('a request whose lock would land too late is refused, without a charge', async () => {
    const { address, apiKey, first, second, letGo } = await occupyLedger();
    const waiting = requestCompletion(service, { form: 'plain', apiKey });
    await untilWaiting('locks', 1);
    const now = performance.now.bind(performance);
    const later = jest.spyOn(performance, 'now').mockImplementation(() => now() + QUEUE_MS);
    const refused = await requestCompletion(service, { form: 'plain', apiKey });
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

  it('a settlement that comes too close to the refund time is not signed', async () => {
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

    const answers = Promise.all([first.answer, second.answer]);
    for (const answer of await service.time.advanceUntil(answers)) {
      expect(answer).toMatchObject({ status: 200, error: undefined });
    }
    await service.advanceSeconds(JOB_TIMEOUT_SECONDS - UNSAFE_SECONDS + 1);
    const { jobs } = await untilEnded(service, address, 2);
    expect(jobs[1]).toMatchObject({ status: 'refunded', charged: 0n });
    expect(sent().filter((kind) => kind === 'settlement')).toHaveLength(1);
    await service.expectConserved();
  });
});
