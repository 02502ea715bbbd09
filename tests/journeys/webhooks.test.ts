import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair, type PublicKey } from '@solana/web3.js';
import { fetchJob } from '../../programs/client/accounts.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import { BASE_UNITS_PER_CREDIT } from '../../programs/client/generated/constants.ts';
import { creditBuy, verdictInstruction } from '../../programs/client/instructions.ts';
import { parseJobId } from '../../programs/client/jobId.ts';
import { mintTo, submit } from '../../stack/operator.ts';
import { registerWorker } from '../../stack/participants.ts';
import { type Receiver, startReceiver } from '../../testing/indexer/receiver.ts';
import { conflictingProofs } from '../../testing/kit/jobInstructions.ts';
import { REFUNDABLE_SECONDS } from '../../testing/ledger/deadlines.ts';
import { advanceToVerdict } from '../../testing/ledger/disputes.ts';
import { untilDispatched } from '../../testing/ledger/walletBooks.ts';
import { requestCompletion } from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';
import type { TestWorker } from '../../testing/workers/testWorker.ts';
import { API_VERSION, type EventKind, WEBHOOK_KINDS } from '../../webhooks/events.ts';
import { verifyWebhook, type WebhookEvent } from '../../webhooks/index.ts';

/** Above the default threshold of 100 before the first charge of 8, and below it afterwards. */
const CREDITS = 105n;
const PRICE = 8;
const ADDED = 50;
/** After the first charge. */
const REMAINING = Number(CREDITS) - PRICE;
const MODEL = { model: 'qwen3-8b', tier: 'standard' };

const addresses = createAddresses();
let service: RunningService;
let wallet: { address: PublicKey; apiKey: string };
/** Of a webhook for every kind, and of one for the end of jobs alone. */
let every: { receiver: Receiver; secret: string };
let ends: { receiver: Receiver; secret: string };

beforeAll(async () => {
  service = await startRunningService();
  wallet = await service.addWallet(CREDITS);
  every = await subscribe(WEBHOOK_KINDS);
  ends = await subscribe(['job.completed']);
});

afterAll(async () => {
  await service?.close();
  await every?.receiver.close();
  await ends?.receiver.close();
});

async function post(path: string, body: object): Promise<Record<string, string>> {
  const response = await fetch(`${service.baseUrl}/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${wallet.apiKey}` },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, string>;
}

async function subscribe(events: readonly EventKind[]) {
  const receiver = await startReceiver();
  const { secret = '' } = await post('/webhooks', { url: receiver.url, events });
  return { receiver, secret };
}

const worker = () => service.workers[0] as TestWorker;

async function complete() {
  const answer = await requestCompletion(service, { form: 'plain', apiKey: wallet.apiKey });
  return { ...answer, jobId: String(answer.headers['x-svc-job-id']) };
}

/** The events of one kind, each verified as a receiver verifies it. */
function received(kind: EventKind, { receiver, secret } = every): WebhookEvent[] {
  return receiver.received
    .map(({ body, headers }) => verifyWebhook({ rawBody: body, headers, secret }))
    .filter(({ event }) => event === kind);
}

/** The data of the first event of a kind, once it has arrived. */
async function dataOf(kind: EventKind): Promise<Record<string, unknown>> {
  await until(async () => received(kind).length > 0);
  return received(kind)[0]?.data as Record<string, unknown>;
}

async function buyForWallet(): Promise<void> {
  const { operator, mints } = service;
  const buyer = operator.authority.publicKey;
  const mint = mints.credit;
  const baseUnits = BigInt(ADDED) * BASE_UNITS_PER_CREDIT;
  const { account, instructions } = mintTo(operator, { mint, owner: buyer, baseUnits });
  const credits = BigInt(ADDED);
  const buy = creditBuy({
    ...{ buyer, buyerTokenAccount: account, wallet: wallet.address, credits },
  });
  await submit(operator, [...instructions, buy]);
}

/** The arbiter convicts the worker, who signed two proofs of one attempt. */
async function convictWorker(jobId: string): Promise<void> {
  const { connection } = service.ledger;
  const creditAccount = addresses.creditAccount(wallet.address);
  const address = addresses.job(creditAccount, parseJobId(jobId) as Uint8Array);
  const job = await fetchJob(connection, address);
  if (!job) throw new Error('the job is not on the ledger');
  await advanceToVerdict(connection, job);
  const proofs = conflictingProofs({ proofKey: worker().proofKeypair }, address, job);
  const instruction = verdictInstruction(proofs, {
    ...{ arbiter: service.arbiter.publicKey, job: address, creditAccount, worker: job.worker },
    verdict: 'upheld_worker',
  });
  await submit(service.operator, [instruction], [service.arbiter]);
}

const INTEGER = expect.any(Number);
const SIGNATURE = expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{80,90}$/);

describe('a webhook for every kind', () => {
  it("receives a settled job's signed events, equal to the API's answers [events.journey] [events.kinds] [events.data]", async () => {
    const { jobId } = await complete();
    const job = await service.get(`/v1/jobs/${jobId}`, wallet.apiKey);
    const { model, tier } = job;
    expect(await dataOf('job.submitted')).toEqual({
      ...{ job_id: jobId, model, tier, credits_locked: PRICE, escrow_tx: job.on_chain.escrow_tx },
      ...{ escrow_pda: job.on_chain.escrow_pda, chain_slot: INTEGER },
      credits_remaining: REMAINING,
    });
    expect(await dataOf('job.processing')).toEqual({
      ...{ job_id: jobId, model, worker_address: worker().address, tx: SIGNATURE },
      chain_slot: INTEGER,
    });
    expect(await dataOf('job.completed')).toEqual({
      ...{ job_id: jobId, model, tier, credits_charged: PRICE, usdc_value: PRICE / 100 },
      ...{ worker_address: job.worker_address, settlement_tx: job.on_chain.settlement_tx },
      ...{ chain_slot: job.on_chain.slot, prompt_tokens: job.usage.prompt_tokens },
      completion_tokens: job.usage.completion_tokens,
      credits_remaining: REMAINING,
    });
    expect(await dataOf('credit.low')).toEqual({
      ...{ credits_remaining: REMAINING, usdc_value: REMAINING / 100, threshold: 100 },
    });
    for (const { body, headers } of every.receiver.received) {
      const { id } = JSON.parse(body);
      expect(headers).toMatchObject({ 'svc-event-id': id, 'svc-delivery-attempt': '1' });
    }
  });

  it('receives a purchase [events.kinds] [events.data]', async () => {
    await buyForWallet();
    expect(await dataOf('credit.topup')).toEqual({
      ...{ credits_added: ADDED, credits_remaining: REMAINING + ADDED, tx: SIGNATURE },
      ...{ usdc_value: (REMAINING + ADDED) / 100, chain_slot: INTEGER },
    });
  });

  it('receives a job that fails [events.kinds] [events.data]', async () => {
    worker().setMode('wrong_hash');
    const { jobId: job_id } = await complete();
    expect(await dataOf('job.failed')).toEqual({
      ...{ job_id, ...MODEL, reason: 'output_mismatch' },
      ...{ credits_refunded: PRICE, refund_tx: SIGNATURE, chain_slot: INTEGER },
      credits_remaining: REMAINING + ADDED,
    });
  });

  it('receives a job that is refunded after its time-out [events.kinds] [events.data]', async () => {
    worker().setMode('never_answers');
    const asking = complete();
    await untilDispatched(service, wallet.address, 1);
    await service.advanceSeconds(REFUNDABLE_SECONDS);
    const { error, jobId: job_id } = await asking;
    expect(error?.code).toBe('job_timeout');
    expect(await dataOf('job.timeout')).toEqual({
      ...{ job_id, ...MODEL, credits_refunded: PRICE, refund_tx: error?.details?.refund_tx },
      ...{ chain_slot: INTEGER, credits_remaining: REMAINING + ADDED },
    });
  });

  it('receives a dispute, its verdict and what the worker loses [events.kinds] [events.data]', async () => {
    worker().setMode('honest');
    const disputed = await complete();
    const { content } = JSON.parse(disputed.body).choices[0].message;
    const received_output_hash = `sha256:${createHash('sha256').update('x').digest('hex')}`;
    const opened = await post(`/jobs/${disputed.jobId}/dispute`, { received_output_hash });
    expect(opened.worker_hash).toBe(`sha256:${createHash('sha256').update(content).digest('hex')}`);
    const { your_hash, worker_hash, dispute_tx } = opened;
    expect(await dataOf('job.disputed')).toEqual({
      ...{ job_id: disputed.jobId, your_hash, worker_hash, dispute_tx, chain_slot: INTEGER },
      arbitration_ends_at: expect.stringMatching(/^\d{4}-.*Z$/),
    });

    await convictWorker(disputed.jobId);
    const resolved = await dataOf('job.dispute_resolved');
    expect(resolved).toEqual({
      ...{ job_id: disputed.jobId, outcome: 'upheld', credits_returned: PRICE },
      ...{ resolution_tx: SIGNATURE, chain_slot: INTEGER },
    });
    expect(await dataOf('worker.slashed')).toEqual({
      ...{ worker_address: worker().address, slash_amount_token: INTEGER },
      ...{ slash_tx: resolved.resolution_tx, reason: 'fraudulent_proof' },
      related_job_id: disputed.jobId,
    });
  });

  it('receives the registration of a worker [events.kinds] [events.data]', async () => {
    const endpoint = 'http://127.0.0.1:9';
    const address = await registerWorker(service.operator, {
      ...{ authority: Keypair.generate(), proofKey: Keypair.generate().publicKey, endpoint },
      ...{ modelIds: [service.model.id], stakeTokens: 1_000n, mints: service.mints },
    });
    expect(await dataOf('worker.registered')).toMatchObject({
      ...{ worker_address: address.toBase58(), endpoint, tx: SIGNATURE, chain_slot: INTEGER },
    });
  });

  it('has one envelope with an id of its own for each, also for one kind [events.envelope] [events.subscribed-kinds]', async () => {
    const envelopes = every.receiver.received.map(({ body }) => JSON.parse(body));
    expect(new Set(envelopes.map(({ event }) => event))).toEqual(new Set(WEBHOOK_KINDS));
    expect(new Set(envelopes.map(({ id }) => id)).size).toBe(envelopes.length);
    for (const envelope of envelopes) {
      expect(envelope).toEqual({
        id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
        event: expect.any(String),
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        api_version: API_VERSION,
        data: expect.any(Object),
      });
    }
    await until(async () => received('job.completed', ends).length === 2);
    expect(ends.receiver.received).toHaveLength(2);
    await service.expectConserved();
  });
});
