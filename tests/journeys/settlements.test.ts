import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Keypair, PublicKey } from '@solana/web3.js';
import { fetchWorker, workerEndpoint } from '../../programs/client/accounts.ts';
import { workerUnhost, workerUpdate } from '../../programs/client/instructions.ts';
import { submit } from '../../stack/operator.ts';
import { sentToProgram } from '../../testing/ledger/ledgerGate.ts';
import { openTokens, readTokenAccount } from '../../testing/ledger/tokens.ts';
import { readBooks, untilDispatched, untilEnded } from '../../testing/ledger/walletBooks.ts';
import { type GatedService, startGatedService } from '../../testing/service/gatedService.ts';
import {
  openCompletion,
  openStream,
  ROUTED_FORMS,
  ROUTES,
  type Route,
  readAnswer,
  requestCompletion,
  untilSampled,
} from '../../testing/service/requestCompletion.ts';
import { until } from '../../testing/until.ts';
import { answerInTwoParts } from '../../testing/workers/engines.ts';
import type { TestWorker } from '../../testing/workers/testWorker.ts';

const CREDITS = 100n;
const SETTLED = { status: 'settled', reason: 'none', charged: 8n };

let service: GatedService;
let wallet: Awaited<ReturnType<GatedService['addWallet']>>;

beforeAll(async () => {
  service = await startGatedService({
    METRICS_PORT: '0',
    // One transaction at a time is on its way to the ledger.
    SVC_SUBMISSIONS_MAX: '1',
    // Only its settlement acknowledges a job: by then its worker may have left.
    SVC_ACKNOWLEDGEMENT_LINGER_MS: '1000',
  });
});

beforeEach(async () => {
  wallet = await service.addWallet(CREDITS);
});

afterEach(() => {
  service.ledgerGate.open();
  service.databaseGate.thaw();
});

afterAll(() => service?.close());

const onlyWorker = () => service.workers[0] as TestWorker;
const ask = (route?: Route) =>
  requestCompletion(service, { form: 'plain', apiKey: wallet.apiKey, ...(route && { route }) });

describe('on a ledger that is slower than the workers', () => {
  const untilWaiting = (lane: string, transactions: number) =>
    untilSampled(
      service,
      `svc_api_transactions_in_flight{lane="${lane}"}`,
      (waiting) => waiting === transactions,
    );

  it('settlements of delivered answers come before new locks', async () => {
    const streams = { engine: service.engine, apiKey: wallet.apiKey };
    const first = await openStream(service, streams);
    const second = await openStream(service, streams);
    await untilDispatched(service, wallet.address, 2);
    const going = Promise.withResolvers<void>();
    const sent: ('settlement' | 'other')[] = [];
    service.ledgerGate.intercept(async (request, forward) => {
      if (request.method === 'sendTransaction') {
        sent.push(sentToProgram(request, 'job_complete') ? 'settlement' : 'other');
        await going.promise;
      }
      return forward(request);
    });
    const answers = [first.end()];
    await until(() => sent.includes('settlement'));
    answers.push(ask());
    await untilWaiting('locks', 1);
    answers.push(second.end());
    await untilWaiting('settlements', 2);
    going.resolve();
    for (const answer of answers) {
      expect(await answer).toMatchObject({ status: 200, error: undefined });
    }
    expect(sent.slice(0, 3)).toEqual(['settlement', 'settlement', 'other']);
    await untilEnded(service, wallet.address, 3);
  });
});

describe('a worker that changes its payout account during a job', () => {
  it('is paid at the new account, even before the mirror shows the change', async () => {
    const { ledger, operator } = service;
    const { address, authority, proofKey, payout } = onlyWorker();
    const worker = await fetchWorker(ledger.connection, new PublicKey(address));
    if (!worker) throw new Error('the worker is not registered');
    const owner = Keypair.generate().publicKey;
    const changed = await openTokens(operator, { owner, like: payout });
    const end = answerInTwoParts(service.engine);
    const { apiKey } = wallet;
    const asking = ROUTED_FORMS.map(([form, route]) =>
      openCompletion(service, { form, route, apiKey }),
    );
    await untilDispatched(service, wallet.address, asking.length);
    service.databaseGate.freeze();
    const fields = { proofKey, endpoint: workerEndpoint(worker), payout: changed };
    const update = workerUpdate({ authority: authority.publicKey, ...fields });
    await submit(operator, [update], [authority]).finally(end);
    const ending = untilEnded(service, wallet.address, asking.length);
    expect(await service.time.advanceUntil(ending)).toMatchObject({
      jobs: asking.map(() => SETTLED),
    });
    service.databaseGate.thaw();
    for (const response of asking) {
      expect(await readAnswer(await response)).toMatchObject({ status: 200, error: undefined });
    }
    // 85 percent of the 32 credits that all cost.
    expect((await readTokenAccount(ledger.connection, changed)).amount).toBe(272_000n);
    await service.expectConserved();
  });
});

describe('a worker that changes its payout account at each settlement', () => {
  it('is paid once it stops, also where the account is the old one again', async () => {
    const { ledger, operator } = service;
    const { address, authority, proofKey } = onlyWorker();
    const worker = await fetchWorker(ledger.connection, new PublicKey(address));
    if (!worker) throw new Error('the worker is not registered');
    const owner = Keypair.generate().publicKey;
    const other = await openTokens(operator, { owner, like: worker.payout });
    const change = (payout: PublicKey) => {
      const fields = { proofKey, endpoint: workerEndpoint(worker), payout };
      const update = workerUpdate({ authority: authority.publicKey, ...fields });
      return submit(operator, [update], [authority]);
    };
    let changes = 0;
    service.ledgerGate.intercept(async (request, forward) => {
      const isSent = request.method === 'sendTransaction' && sentToProgram(request, 'job_complete');
      if (!isSent || changes === 3) return forward(request);
      changes += 1;
      await change(other);
      const refused = await forward(request);
      await change(worker.payout);
      return refused;
    });
    const asking = service.time.advanceUntil(ask());
    expect(await asking).toMatchObject({ status: 200, error: undefined });
    expect(await untilEnded(service, wallet.address, 1)).toMatchObject({ jobs: [SETTLED] });
    expect(changes).toBe(3);
  });
});

// Last: no worker is left.
describe('a worker that leaves while it answers', () => {
  it('is not paid, and its client gets an error without a charge', async () => {
    const { authority } = onlyWorker();
    const modelId = service.model.id;
    const leave = workerUnhost({ authority: authority.publicKey, modelId });
    let left: Promise<unknown> | undefined;
    service.engine.play(async function* () {
      yield 'Hello.';
      left ??= submit(service.operator, [leave], [authority]);
      await left;
    });
    for (const { status, error } of await Promise.all(ROUTES.map(ask))) {
      expect([status, error?.code]).toEqual([503, 'no_workers_available']);
    }
    expect(await readBooks(service, wallet.address)).toEqual({
      ...{ available: CREDITS, locked: 0n },
      jobs: ROUTES.map(() => ({ status: 'failed', reason: 'worker_error', charged: 0n })),
    });
    await service.expectConserved();
  });
});
