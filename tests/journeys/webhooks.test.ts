import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair, type PublicKey } from '@solana/web3.js';
import { APIError } from 'openai';
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

async function post(path: string, body: object, { apiKey } = wallet) {
  const response = await fetch(`${service.baseUrl}/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, string>;
}

async function subscribe(events: readonly EventKind[], by = wallet) {
  const receiver = await startReceiver();
  const { secret = '' } = await post('/webhooks', { url: receiver.url, events }, by);
  return { receiver, secret };
}

function worker(): TestWorker {
  const [only] = service.workers;
  if (!only) throw new Error('the service has no worker');
  return only;
}

const complete = (by = wallet) =>
  service.openai(by).chat.completions.create({
    model: service.model.id,
    messages: [{ role: 'user', content: 'Say hello.' }],
  });

async function completeJob() {
  const { id, choices } = await complete();
  return { jobId: id.replace('chatcmpl-', ''), text: choices[0]?.message.content ?? '' };
}

async function failureOf(request: Promise<unknown>): Promise<APIError> {
  const outcome = await request.catch((error: unknown) => error);
  if (outcome instanceof APIError) return outcome;
  throw new Error('the completion succeeded', { cause: outcome });
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

it("a webhook receives a job's signed events, equal to the API's answers [events.journey]", async () => {
  const buyer = await service.addWallet(CREDITS);
  const kinds = ['job.submitted', 'job.processing', 'job.completed'] as const;
  const { receiver, secret } = await subscribe(kinds, buyer);
  const completion = await complete(buyer);
  const job = await service.get(`/v1/jobs/${completion.id.replace('chatcmpl-', '')}`, buyer.apiKey);

  await until(async () => receiver.received.length >= kinds.length);
  const events = new Map<string, WebhookEvent>();
  for (const { body, headers } of receiver.received) {
    const event = verifyWebhook({ rawBody: body, headers, secret });
    events.set(event.event, event);
    expect(headers).toMatchObject({ 'svc-event-id': event.id, 'svc-delivery-attempt': '1' });
  }
  expect([...events.keys()].sort()).toEqual([...kinds].sort());
  expect(events.get('job.submitted')?.data).toMatchObject({
    job_id: job.id,
    escrow_tx: job.on_chain.escrow_tx,
    escrow_pda: job.on_chain.escrow_pda,
  });
  expect(events.get('job.completed')?.data).toEqual({
    job_id: job.id,
    model: job.model,
    tier: job.tier,
    credits_charged: job.credits_charged,
    usdc_value: job.usdc_value,
    worker_address: job.worker_address,
    settlement_tx: job.on_chain.settlement_tx,
    chain_slot: job.on_chain.slot,
    prompt_tokens: job.usage.prompt_tokens,
    completion_tokens: job.usage.completion_tokens,
    credits_remaining: Number(CREDITS) - job.credits_charged,
  });
  await receiver.close();
});

describe('a webhook for every kind', () => {
  it('receives a settled job and the low balance, with the published fields [events.kinds] [events.data]', async () => {
    const { jobId } = await completeJob();
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
    const failure = await failureOf(complete());
    expect(await dataOf('job.failed')).toEqual({
      ...{ job_id: failure.headers?.get('x-svc-job-id'), ...MODEL, reason: 'output_mismatch' },
      ...{ credits_refunded: PRICE, refund_tx: SIGNATURE, chain_slot: INTEGER },
      credits_remaining: REMAINING + ADDED,
    });
  });

  it('receives a job that is refunded after its time-out [events.kinds] [events.data]', async () => {
    worker().setMode('never_answers');
    const failing = failureOf(complete());
    await untilDispatched(service, wallet.address, 1);
    await service.advanceSeconds(REFUNDABLE_SECONDS);
    const timedOut = await failing;
    const { details } = timedOut.error as { details: Record<string, unknown> };
    expect([timedOut.status, timedOut.code]).toEqual([504, 'job_timeout']);
    expect(await dataOf('job.timeout')).toEqual({
      ...{ job_id: details.job_id, ...MODEL, credits_refunded: details.credits_refunded },
      ...{
        refund_tx: details.refund_tx,
        chain_slot: INTEGER,
        credits_remaining: REMAINING + ADDED,
      },
    });
  });

  it('receives a dispute, its verdict and what the worker loses [events.kinds] [events.data]', async () => {
    worker().setMode('honest');
    const disputed = await completeJob();
    const received_output_hash = `sha256:${createHash('sha256').update('x').digest('hex')}`;
    const opened = await post(`/jobs/${disputed.jobId}/dispute`, { received_output_hash });
    expect(opened.worker_hash).toBe(
      `sha256:${createHash('sha256').update(disputed.text).digest('hex')}`,
    );
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

  it('receives those of one job in the order of the ledger', async () => {
    const kinds = new Map<string, string[]>();
    for (const { body } of every.receiver.received) {
      const { event, data } = JSON.parse(body) as WebhookEvent & { data: { job_id?: string } };
      if (data.job_id) kinds.set(data.job_id, [...(kinds.get(data.job_id) ?? []), event]);
    }
    const begin = ['job.submitted', 'job.processing'];
    expect([...kinds.values()]).toEqual([
      [...begin, 'job.completed'],
      [...begin, 'job.failed'],
      [...begin, 'job.timeout'],
      [...begin, 'job.completed', 'job.disputed', 'job.dispute_resolved'],
    ]);
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
