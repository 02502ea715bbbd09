import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  LAMPORTS_PER_SOL,
  type PublicKey,
  SYSVAR_CLOCK_PUBKEY,
  SystemProgram,
  type TransactionInstruction,
} from '@solana/web3.js';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import { createJobId, formatJobId } from '../../programs/client/jobId.ts';
import { submit } from '../../stack/operator.ts';
import { coder } from '../../testing/ledger/anchorCoder.ts';
import { accepted } from '../../testing/ledger/interceptedConnection.ts';
import { LONG_BLOCKHASH_MS } from '../../testing/ledger/ledger.ts';
import { nodeUnavailable, sentInstructions } from '../../testing/ledger/ledgerGate.ts';
import { readBooks, untilDispatched, untilEnded } from '../../testing/ledger/walletBooks.ts';
import { type GatedService, startGatedService } from '../../testing/service/gatedService.ts';
import {
  type Answer,
  FORMS,
  type Form,
  openCompletion,
  readAnswer,
  requestCompletion,
} from '../../testing/service/requestCompletion.ts';
import { until } from '../../testing/until.ts';
import { answerInTwoParts } from '../../testing/workers/engines.ts';

const CREDITS = 100n;
/** Enough for the fees of hundreds of transactions, and not for the rent of one job. */
const LOW_LAMPORTS = 1_500_000;

/** More than are made up for by asking again, for one job of two. */
const READ_REFUSALS = 8;

let service: GatedService;

beforeAll(async () => {
  service = await startGatedService({}, { queryTimeoutMs: 1_000 });
});

afterEach(() => service.ledgerGate.open());

afterAll(() => service?.close());

function expectUnavailable({ status, headers, error }: Answer): void {
  expect({ status, error }).toMatchObject({
    status: 503,
    error: { code: 'service_unavailable', type: 'server_error', param: null },
  });
  expect(headers['retry-after']).toBe('5');
}

/** What the API answers once it has waited as long as it does. */
const brought = <Result>(answers: Promise<Result>) => service.time.advanceUntil(answers);

/** Of a job that was never locked. */
function draftBytes(): Uint8Array {
  return createJobId({ nowMs: Date.now(), creditAccount: service.hotSigner.publicKey }).bytes;
}

/** Has both forms of a request answered up to a point. @returns how to let them end */
async function askBoth(apiKey: string) {
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
  return { answers, ended, end };
}

const settled = { status: 'settled', reason: 'none', charged: 8n };

/** Both forms of a request are over, and were charged. */
async function expectBothSettled(wallet: PublicKey): Promise<void> {
  expect(await untilEnded(service, wallet, FORMS.length)).toEqual({
    ...{ available: CREDITS - 16n, locked: 0n },
    jobs: [settled, settled],
  });
}

/**
 * Has both forms of a request fail at their worker.
 *
 * @param cut takes the ledger away once they run
 */
async function failBoth(
  { address, apiKey }: { address: PublicKey; apiKey: string },
  cut: () => void,
) {
  const dying = Promise.withResolvers<void>();
  service.engine.play(async function* () {
    yield 'Hello';
    await dying.promise;
    throw new Error('The engine died');
  });
  const answers = FORMS.map((form) => requestCompletion(service, { form, apiKey }));
  await untilDispatched(service, address, FORMS.length);
  cut();
  dying.resolve();
  return brought(Promise.all(answers));
}

const unsettled = { code: 'worker_failed', details: { credits_refunded: 8, refund_tx: null } };

describe('while the ledger is unavailable, a completion', () => {
  it('is a 503 without a charge, and reads continue [failures.ledger-away]', async () => {
    const { address, apiKey } = await service.addWallet(CREDITS);
    service.ledgerGate.intercept(nodeUnavailable);
    const asking = FORMS.map((form) => requestCompletion(service, { form, apiKey }));
    for (const answer of await Promise.all(asking)) expectUnavailable(answer);
    expect(await service.get('/v1/account', apiKey)).toMatchObject({ credits_remaining: 100 });
    expect(await service.get('/v1/jobs', apiKey)).toMatchObject({ data: [] });
    const unknown = `/v1/jobs/${formatJobId(draftBytes())}`;
    expect(await brought(service.get(unknown, apiKey))).toMatchObject({
      error: { code: 'service_unavailable' },
    });
    const headers = { 'idempotency-key': 'one-of-many' };
    expectUnavailable(await requestCompletion(service, { form: 'plain', apiKey, headers }));
    service.ledgerGate.open();
    const repeated = await requestCompletion(service, { form: 'plain', apiKey, headers });
    expect(repeated).toMatchObject({ status: 200, error: undefined });
    expect(await untilEnded(service, address, 1)).toEqual({
      ...{ available: CREDITS - 8n, locked: 0n },
      jobs: [settled],
    });
  });

  it('is answered when it was locked before, and settled later [completions.unsettled-in-time]', async () => {
    const { address, apiKey } = await service.addWallet(CREDITS);
    const { answers, ended, end } = await askBoth(apiKey);
    await untilDispatched(service, address, FORMS.length);
    service.ledgerGate.intercept(nodeUnavailable);
    end();
    const [plain, stream] = (await brought(answers)) as [Answer, Answer];
    // A stream, whose text is read already, waits 3 s for its settlement; a plain answer 10 s.
    expect(ended).toEqual(['stream', 'plain']);
    for (const { status, error, body, headers, trailers } of [plain, stream]) {
      expect({ status, error }).toEqual({ status: 200, error: undefined });
      expect(body).toMatch('again.');
      const fields = { ...headers, ...trailers };
      expect(fields['x-svc-output-hash']).toMatch(/^sha256:/);
      expect(fields['x-svc-settlement-tx']).toBeUndefined();
    }
    expect(await readBooks(service, address)).toMatchObject({ locked: 16n });
    service.ledgerGate.open();
    await expectBothSettled(address);
    await service.expectConserved();
  });

  it('gets its error with a failing worker, and is refunded later', async () => {
    const wallet = await service.addWallet(CREDITS);
    const answers = await failBoth(wallet, () => service.ledgerGate.intercept(nodeUnavailable));
    for (const { error } of answers) expect(error).toMatchObject(unsettled);
    expect(await readBooks(service, wallet.address)).toMatchObject({ locked: 16n });
    service.ledgerGate.open();
    const failed = { status: 'failed', reason: 'worker_error', charged: 0n };
    expect(await untilEnded(service, wallet.address, FORMS.length)).toEqual({
      ...{ available: CREDITS, locked: 0n },
      jobs: [failed, failed],
    });
    await service.expectConserved();
  });
});

describe('while the ledger is unavailable, a dispute', () => {
  it('is a 503, and is opened once the ledger is back', async () => {
    const { apiKey } = await service.addWallet(CREDITS);
    service.engine.play(async function* () {
      yield 'Hello.';
    });
    const { headers } = await requestCompletion(service, { form: 'plain', apiKey });
    const dispute = () =>
      fetch(`${service.baseUrl}/v1/jobs/${headers['x-svc-job-id']}/dispute`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}` },
        body: JSON.stringify({ received_output_hash: `sha256:${'0'.repeat(64)}` }),
      });
    service.ledgerGate.intercept(nodeUnavailable);
    const refused = await brought(dispute());
    expect(await refused.json()).toMatchObject({ error: { code: 'service_unavailable' } });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    service.ledgerGate.open();
    expect(await (await dispute()).json()).toMatchObject({ dispute_opened: true });
  });
});

describe('while a node loses transactions and answers late, a completion', () => {
  it('is still settled when it was locked before', async () => {
    const { address, apiKey } = await service.addWallet(CREDITS);
    const { answers, end } = await askBoth(apiKey);
    await untilDispatched(service, address, FORMS.length);
    const { refusals } = becomeUnreliable();
    end();
    for (const answer of await brought(answers)) {
      expect(answer).toMatchObject({ status: 200, error: undefined });
    }
    // The transactions that the node forgot can land no more.
    await service.advanceSeconds(LONG_BLOCKHASH_MS / 1_000);
    await brought(expectBothSettled(address));
    expect(refusals()).toBe(READ_REFUSALS);
  });

  it('is settled although its worker’s acknowledgement was lost', async () => {
    const { address, apiKey } = await service.addWallet(CREDITS);
    const lost = loseAcknowledgements();
    const { answers, end } = await askBoth(apiKey);
    await until(async () => {
      const jobs = await service.jobs();
      return jobs.filter((job) => lost.has(job.address.toBase58())).length === FORMS.length;
    });
    end();
    for (const answer of await brought(answers)) {
      expect(answer).toMatchObject({ status: 200, error: undefined });
    }
    await expectBothSettled(address);
  });
});

/**
 * The node takes acknowledgements and forgets them.
 *
 * @returns the accounts that they named
 */
function loseAcknowledgements(): ReadonlySet<string> {
  const named = new Set<string>();
  service.ledgerGate.intercept(async (request, forward) => {
    const instructions = sentInstructions(request);
    const acknowledged = instructions.filter(isOf('job_acknowledge'));
    if (acknowledged.length === 0) return forward(request);
    for (const { pubkey } of acknowledged.flatMap(({ keys }) => keys)) named.add(pubkey.toBase58());
    return accepted(request);
  });
  return named;
}

const isOf =
  (name: string) =>
  ({ programId, data }: TransactionInstruction): boolean =>
    programId.equals(PROGRAM_ID) && coder.instruction.decode(data)?.name === name;

/** The node takes transactions and forgets them until it was asked for a job that it is behind with. */
function becomeUnreliable(): { refusals: () => number } {
  let refusals = 0;
  service.ledgerGate.intercept(async (request, forward) => {
    const { id, method, params } = request;
    const isOfJob = method === 'getAccountInfo' && params[0] !== SYSVAR_CLOCK_PUBKEY.toBase58();
    if (isOfJob && refusals < READ_REFUSALS) {
      refusals += 1;
      const message = 'Minimum context slot has not been reached';
      return { jsonrpc: '2.0', id, error: { code: -32016, message } };
    }
    if (method !== 'sendTransaction' || refusals > 0) return forward(request);
    return { jsonrpc: '2.0', id, result: 'forgotten' };
  });
  return { refusals: () => refusals };
}

describe('while the database is unavailable, a completion', () => {
  afterEach(() => service.databaseGate.open());

  it('is a 503 without a charge, and runs again without a restart [failures.ledger-away]', async () => {
    const { address, apiKey } = await service.addWallet(CREDITS);
    await service.databaseGate.shut();
    const asking = FORMS.map((form) => requestCompletion(service, { form, apiKey }));
    for (const answer of await brought(Promise.all(asking))) expectUnavailable(answer);
    const ready = await fetch(`${service.baseUrl}/ready`);
    expect([ready.status, await ready.json()]).toMatchObject([
      503,
      { parts: { database: 'away' } },
    ]);
    expect(await readBooks(service, address)).toEqual({ available: CREDITS, locked: 0n, jobs: [] });
    await service.databaseGate.open();
    for (const form of FORMS) {
      expect(await requestCompletion(service, { form, apiKey })).toMatchObject({ status: 200 });
    }
    expect(await untilEnded(service, address, FORMS.length)).toMatchObject({
      ...{ available: CREDITS - 16n, locked: 0n },
    });
  });

  it('is answered and settled when it was locked before', async () => {
    const { address, apiKey } = await service.addWallet(CREDITS);
    const { answers, end } = await askBoth(apiKey);
    await untilDispatched(service, address, FORMS.length);
    await service.databaseGate.shut();
    end();
    for (const answer of await brought(answers)) {
      expect(answer).toMatchObject({ status: 200, error: undefined });
      expect(answer.body).toMatch('again.');
    }
    await expectBothSettled(address);
  });
});

describe('while the database does not respond, a completion', () => {
  afterEach(() => service.databaseGate.thaw());

  it('is answered and settled in time when it was locked before', async () => {
    const { address, apiKey } = await service.addWallet(CREDITS);
    const { answers, end } = await askBoth(apiKey);
    await untilDispatched(service, address, FORMS.length);
    service.databaseGate.freeze();
    end();
    await expectBothSettled(address);
    for (const answer of await brought(answers)) {
      expect(answer).toMatchObject({ status: 200, error: undefined });
    }
  });

  it('is a 503 without a charge', async () => {
    const { address, apiKey } = await service.addWallet(CREDITS);
    service.databaseGate.freeze();
    const asking = FORMS.map((form) => requestCompletion(service, { form, apiKey }));
    for (const answer of await brought(Promise.all(asking))) expectUnavailable(answer);
    expect(await readBooks(service, address)).toEqual({ available: CREDITS, locked: 0n, jobs: [] });
  });
});

describe('after the database connections died silently, a completion', () => {
  it('is answered once they have timed out, and later ones are not delayed', async () => {
    const { address, apiKey } = await service.addWallet(CREDITS);
    const ask = () => requestCompletion(service, { form: 'plain', apiKey });
    expect(await ask()).toMatchObject({ status: 200 });
    service.databaseGate.stallConnections();
    let refused = 0;
    for (let answer = await ask(); answer.status !== 200; answer = await ask()) {
      expectUnavailable(answer);
      refused += 1;
    }
    expect(refused).toBeLessThan(10);
    expect(await untilEnded(service, address, 2)).toMatchObject({ available: CREDITS - 16n });
  });
});

describe('while the hot signer has no SOL, a completion', () => {
  it('is settled once the hot signer is funded, when it was locked before', async () => {
    const { address, apiKey } = await service.addWallet(CREDITS);
    const { answers, end } = await askBoth(apiKey);
    await untilDispatched(service, address, FORMS.length);
    await drainSigner(0);
    end();
    for (const answer of await brought(answers)) {
      expect(answer).toMatchObject({ status: 200, error: undefined });
    }
    expect(await readBooks(service, address)).toMatchObject({ locked: 16n });
    await service.ledger.fundLamports(service.hotSigner.publicKey, 10 * LAMPORTS_PER_SOL);
    await brought(expectBothSettled(address));
  });
});

describe('while the operator’s float is low, a completion', () => {
  it('is a 503 without a charge, and jobs that were locked before still settle [failures.ledger-away]', async () => {
    const { address, apiKey } = await service.addWallet(CREDITS);
    const { answers, end } = await askBoth(apiKey);
    await untilDispatched(service, address, FORMS.length);
    await drainSigner(LOW_LAMPORTS);
    const asking = FORMS.map((form) => requestCompletion(service, { form, apiKey }));
    for (const answer of await brought(Promise.all(asking))) expectUnavailable(answer);
    end();
    for (const answer of await brought(answers)) expect(answer).toMatchObject({ status: 200 });
    await expectBothSettled(address);
  });
});

async function drainSigner(lamportsLeft: number): Promise<void> {
  const { operator, ledger, hotSigner } = service;
  const lamports = await ledger.connection.getBalance(hotSigner.publicKey, 'confirmed');
  const transfer = SystemProgram.transfer({
    fromPubkey: hotSigner.publicKey,
    toPubkey: operator.authority.publicKey,
    lamports: lamports - lamportsLeft,
  });
  await submit(operator, [transfer], [hotSigner]);
}
