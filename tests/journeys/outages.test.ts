import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SystemProgram } from '@solana/web3.js';
import { createJobId, formatJobId } from '../../programs/client/jobId.ts';
import { submit } from '../../stack/operator.ts';
import { nodeUnavailable } from '../../testing/ledger/ledgerGate.ts';
import { readBooks, untilDispatched, untilEnded } from '../../testing/ledger/walletBooks.ts';
import { type GatedService, startGatedService } from '../../testing/service/gatedService.ts';
import {
  type Answer,
  expectUnavailable,
  FORMS,
  type Form,
  openCompletion,
  readAnswer,
  requestCompletion,
} from '../../testing/service/requestCompletion.ts';
import { answerInTwoParts } from '../../testing/workers/engines.ts';

const CREDITS = 100n;
/** Enough for the fees of hundreds of transactions, and not for the rent of one job. */
const LOW_LAMPORTS = 1_500_000;
const UNTOUCHED = { available: CREDITS, locked: 0n, jobs: [] };

let service: GatedService;
/** Of one test. */
let wallet: Awaited<ReturnType<GatedService['addWallet']>>;

beforeAll(async () => {
  service = await startGatedService({}, { queryTimeoutMs: 1_000 });
});

beforeEach(async () => {
  wallet = await service.addWallet(CREDITS);
});

afterEach(async () => {
  service.ledgerGate.open();
  service.databaseGate.thaw();
  await service.databaseGate.open();
});

afterAll(() => service?.close());

const ask = (form: Form = 'plain', headers: Record<string, string> = {}) =>
  requestCompletion(service, { form, apiKey: wallet.apiKey, headers });

/** What the API answers once it has waited as long as it does. */
const brought = <Result>(answers: Promise<Result>) => service.time.advanceUntil(answers);

/** Both forms of a request are refused as long as it is so, and cost nothing. */
async function expectBothUnavailable(): Promise<void> {
  const asking = FORMS.map((form) => ask(form));
  for (const answer of await brought(Promise.all(asking))) expectUnavailable(answer);
}

/** Has both forms of a request answered up to a point. @returns how to let them end */
async function askBoth() {
  const { address, apiKey } = wallet;
  const end = answerInTwoParts(service.engine);
  const asking = FORMS.map((form) => openCompletion(service, { form, apiKey }));
  await asking[FORMS.indexOf('stream')];
  /** In the order in which they ended. */
  const ended: Form[] = [];
  const answers = Promise.all(
    asking.map(async (response, index) => {
      const answer = await readAnswer(await response);
      ended.push(FORMS[index] as Form);
      return answer;
    }),
  );
  await untilDispatched(service, address, FORMS.length);
  return { answers, ended, end };
}

async function expectBothAnswered(answers: Promise<Answer[]>): Promise<void> {
  for (const answer of await brought(answers)) {
    expect(answer).toMatchObject({ status: 200, error: undefined });
    expect(answer.body).toMatch('again.');
  }
}

const settled = { status: 'settled', reason: 'none', charged: 8n };

/** So many requests are over, and were charged. */
async function expectSettled(count: number = FORMS.length): Promise<void> {
  expect(await untilEnded(service, wallet.address, count)).toEqual({
    ...{ available: CREDITS - 8n * BigInt(count), locked: 0n },
    jobs: Array(count).fill(settled),
  });
  await service.expectConserved();
}

describe('while the ledger is unavailable, a completion', () => {
  it('is a 503 without a charge, and reads continue [failures.ledger-away]', async () => {
    const { apiKey } = wallet;
    service.ledgerGate.intercept(nodeUnavailable);
    await expectBothUnavailable();
    expect(await service.get('/v1/account', apiKey)).toMatchObject({ credits_remaining: 100 });
    expect(await service.get('/v1/jobs', apiKey)).toMatchObject({ data: [] });
    const creditAccount = service.hotSigner.publicKey;
    const unlocked = formatJobId(createJobId({ nowMs: Date.now(), creditAccount }).bytes);
    expect(await brought(service.get(`/v1/jobs/${unlocked}`, apiKey))).toMatchObject({
      error: { code: 'service_unavailable' },
    });
    const headers = { 'idempotency-key': 'one-of-many' };
    expectUnavailable(await ask('plain', headers));
    service.ledgerGate.open();
    expect(await ask('plain', headers)).toMatchObject({ status: 200, error: undefined });
    await expectSettled(1);
  });

  it('is answered when it was locked before, and settled later [completions.unsettled-in-time]', async () => {
    const { answers, ended, end } = await askBoth();
    service.ledgerGate.intercept(nodeUnavailable);
    end();
    await expectBothAnswered(answers);
    // A stream, whose text is read already, waits 3 s for its settlement; a plain answer 10 s.
    expect(ended).toEqual(['stream', 'plain']);
    for (const { headers, trailers } of await answers) {
      const fields = { ...headers, ...trailers };
      expect(fields['x-svc-output-hash']).toMatch(/^sha256:/);
      expect(fields['x-svc-settlement-tx']).toBeUndefined();
    }
    expect(await readBooks(service, wallet.address)).toMatchObject({ locked: 16n });
    service.ledgerGate.open();
    await expectSettled();
  });
});

describe('while the database is unavailable, a completion', () => {
  it('is a 503 without a charge, and runs again without a restart [failures.ledger-away]', async () => {
    await service.databaseGate.shut();
    await expectBothUnavailable();
    const ready = await fetch(`${service.baseUrl}/ready`);
    expect([ready.status, await ready.json()]).toMatchObject([
      503,
      { parts: { database: 'away' } },
    ]);
    expect(await readBooks(service, wallet.address)).toEqual(UNTOUCHED);
    await service.databaseGate.open();
    for (const form of FORMS) expect(await ask(form)).toMatchObject({ status: 200 });
    await expectSettled();
  });

  it.each([
    ['refuses connections', () => service.databaseGate.shut()],
    ['does not respond', async () => service.databaseGate.freeze()],
  ])('is answered and settled when it was locked before: %s', async (_how, cut) => {
    const { answers, end } = await askBoth();
    await cut();
    end();
    await expectBothAnswered(answers);
    await brought(expectSettled());
  });

  it('is a 503 without a charge, too, where the database does not respond', async () => {
    service.databaseGate.freeze();
    await expectBothUnavailable();
    expect(await readBooks(service, wallet.address)).toEqual(UNTOUCHED);
  });
});

describe('after the database connections died silently, a completion', () => {
  it('is answered once they have timed out, and later ones are not delayed', async () => {
    expect(await ask()).toMatchObject({ status: 200 });
    service.databaseGate.stallConnections();
    let refused = 0;
    for (let answer = await ask(); answer.status !== 200; answer = await ask()) {
      expectUnavailable(answer);
      refused += 1;
    }
    expect(refused).toBeLessThan(10);
    await expectSettled(2);
  });
});

describe('while the operator’s float is low, a completion', () => {
  it('is a 503 without a charge, and jobs that were locked before still settle [failures.ledger-away]', async () => {
    const { answers, end } = await askBoth();
    const { operator, ledger, hotSigner } = service;
    const fromPubkey = hotSigner.publicKey;
    const lamports = (await ledger.connection.getBalance(fromPubkey, 'confirmed')) - LOW_LAMPORTS;
    const toPubkey = operator.authority.publicKey;
    const drain = SystemProgram.transfer({ fromPubkey, toPubkey, lamports });
    await submit(operator, [drain], [hotSigner]);
    await expectBothUnavailable();
    end();
    await expectBothAnswered(answers);
    await expectSettled();
  });
});
