import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { LedgerEvent, LedgerTransaction } from '../../../indexer/fold/event.ts';
import { createScene, type Scene } from '../../../testing/indexer/scene.ts';
import {
  createWebhookScene,
  type DeliveryRow,
  type WebhookScene,
} from '../../../testing/indexer/webhookScene.ts';
import { API_VERSION, type EventKind, WEBHOOK_KINDS } from '../../../webhooks/events.ts';
import { webhookKinds } from '../../../webhooks/kinds.ts';
import { readDocuments } from '../../docs/documents.ts';
import { liveThrough } from '../life.ts';

/** 10,000 credits are bought at first, so that some settlement goes below this. */
const THRESHOLD = 9_985;
/** What the scene's workers prove and its client disputes. */
const HASH = expect.stringMatching(/^sha256:[0-9a-f]{64}$/);
const SIGNATURE = expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{80,90}$/);
const JOB_ID = expect.stringMatching(/^job_[0-9a-f]{32}$/);
const INTEGER = expect.any(Number);

let ledger: Scene;
let scene: WebhookScene;
let transactions: LedgerTransaction[];
let deliveries: DeliveryRow[];

beforeAll(async () => {
  ledger = await createScene();
  await liveThrough(ledger);
  transactions = await ledger.read();
  scene = await createWebhookScene();
  const wallet = ledger.service.wallet.publicKey.toBase58();
  await scene.addWebhook({ url: 'https://example.com/all', wallet, events: WEBHOOK_KINDS });
  await scene.pool.query(
    'insert into service.credit_alerts (wallet, threshold_credits) values ($1, $2)',
    [wallet, THRESHOLD],
  );
  await scene.applyAndAnnounce(transactions);
  deliveries = await scene.deliveries();
});

afterAll(async () => {
  await scene?.close();
  await ledger?.ledger.close();
});

function envelopesOf(kind: EventKind) {
  return deliveries.filter(({ event }) => event === kind).map(({ body }) => JSON.parse(body));
}

function eventsOf<Name extends LedgerEvent['name']>(name: Name) {
  const events = transactions.flatMap((transaction) => transaction.events);
  return events.filter(
    (event): event is Extract<LedgerEvent, { name: Name }> => event.name === name,
  );
}

describe('the payloads of webhooks', () => {
  it('cover every kind, once for each ledger event behind it [events.kinds]', () => {
    const counts = Object.fromEntries(
      WEBHOOK_KINDS.map((kind) => [kind, envelopesOf(kind).length]),
    );
    expect(counts).toEqual({
      'job.submitted': eventsOf('JobLocked').length,
      // Of four completions one repeated an attempt that was acknowledged before.
      'job.processing': eventsOf('JobAcknowledged').length + 3,
      'job.completed': eventsOf('JobSettled').length + eventsOf('JobCompleted').length,
      'job.failed': eventsOf('JobFailed').length,
      'job.timeout': eventsOf('JobRefunded').length,
      'job.disputed': eventsOf('JobDisputed').length,
      'job.dispute_resolved':
        eventsOf('DisputeResolved').length + eventsOf('DisputeExpired').length,
      'credit.low': 1,
      'credit.topup': eventsOf('CreditBought').length,
      'worker.registered': eventsOf('WorkerRegistered').length,
      'worker.slashed': 1,
    });
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(0);
  });

  it('come in the envelope of the contract, with unique ids [events.envelope]', () => {
    for (const { body, event_id, event } of deliveries) {
      expect(JSON.parse(body)).toEqual({
        id: event_id,
        event,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/),
        api_version: API_VERSION,
        data: expect.any(Object),
      });
      expect(event_id).toMatch(/^evt_[0-9a-f]{32}$/);
    }
    expect(new Set(deliveries.map(({ event_id }) => event_id)).size).toBe(deliveries.length);
  });

  it("carry the ledger's time", () => {
    const [event] = eventsOf('JobLocked');
    const [envelope] = envelopesOf('job.submitted');
    expect(Date.parse(envelope.created_at) / 1_000).toBe(Number(event?.data.unixTime));
  });

  const ofJob = { job_id: JOB_ID, model: 'qwen3-8b', tier: 'standard', chain_slot: INTEGER };
  const refund = { ...ofJob, credits_refunded: 8, refund_tx: SIGNATURE };
  const ADDRESS = expect.any(String);
  it.each([
    [
      'job.submitted',
      { ...ofJob, ...{ credits_locked: 8, escrow_tx: SIGNATURE, escrow_pda: ADDRESS } },
      { credits_remaining: 9_982 },
    ],
    ['job.processing', { ...ofJob, tier: undefined, worker_address: ADDRESS, tx: SIGNATURE }, {}],
    [
      // 599 counted tokens at 4 credits per 1,000; the other three jobs still lock 8 each.
      'job.completed',
      { ...ofJob, credits_charged: 3, usdc_value: 0.03, credits_remaining: 9_963 },
      {
        ...{ worker_address: ADDRESS, settlement_tx: SIGNATURE },
        ...{ prompt_tokens: 10, completion_tokens: 599 },
      },
    ],
    ['job.failed', { ...refund, reason: 'worker_error', credits_remaining: 9_971 }, {}],
    ['job.timeout', { ...refund, credits_remaining: 9_979 }, {}],
    [
      'job.disputed',
      { job_id: JOB_ID, your_hash: HASH, worker_hash: HASH, dispute_tx: SIGNATURE },
      { chain_slot: INTEGER, arbitration_ends_at: expect.stringMatching(/^\d{4}-.*Z$/) },
    ],
    [
      'job.dispute_resolved',
      { job_id: JOB_ID, outcome: 'rejected', credits_returned: 0 },
      { resolution_tx: SIGNATURE, chain_slot: INTEGER },
    ],
    [
      'credit.topup',
      { credits_added: 10_000, credits_remaining: 10_000, usdc_value: 100 },
      { tx: SIGNATURE, chain_slot: INTEGER },
    ],
    // 9,987 less 3 is the first balance below; 16 of it are locked again by then.
    ['credit.low', { credits_remaining: 9_968, usdc_value: 99.68, threshold: THRESHOLD }, {}],
    [
      'worker.registered',
      { worker_address: ADDRESS, endpoint: 'http://127.0.0.1:9', models: ['qwen3-8b'] },
      { stake_token: 1_000, tx: SIGNATURE, chain_slot: INTEGER },
    ],
    [
      'worker.slashed',
      { worker_address: ADDRESS, slash_amount_token: 400, slash_tx: SIGNATURE },
      { reason: 'fraudulent_proof', related_job_id: JOB_ID },
    ],
  ] as const)(
    'contain for %s exactly the fields of the contract [events.data]',
    (kind, data, more) => {
      const [first] = envelopesOf(kind);
      expect(first.data).toEqual({ ...data, ...more });
    },
  );

  it('are described completely in the reference and in the guide', () => {
    const guide = readDocuments().find(({ path }) => path === 'docs/webhooks.md')?.text ?? '';
    for (const kind of WEBHOOK_KINDS) {
      const [, row = ''] = guide.split(`\n| \`${kind}\` |`);
      const cell = row.split('\n')[0]?.split('|')[1] ?? '';
      const documented = [...cell.matchAll(/`(\w+)`/g)].map(([, field]) => field).sort();
      expect([kind, documented]).toEqual([kind, Object.keys(webhookKinds[kind].data.shape).sort()]);
      for (const { data } of envelopesOf(kind)) {
        expect([kind, Object.keys(data).sort()]).toEqual([kind, documented]);
      }
    }
  });

  it('contain the transaction and slot of their event', () => {
    const [event] = eventsOf('JobSettled');
    const [envelope] = envelopesOf('job.completed');
    expect(envelope.data).toMatchObject({
      job_id: `job_${event?.data.jobId}`,
      settlement_tx: event?.signature,
      chain_slot: Number(event?.slot),
      worker_address: event?.data.worker,
    });
  });

  it('show a worker as its first transaction leaves it', () => {
    const registrations = envelopesOf('worker.registered').map(({ data }) => data.stake_token);
    expect(registrations).toEqual([1_000, 2_000]);
  });

  it('warn of a low balance by available and locked credits together', () => {
    const [low] = envelopesOf('credit.low');
    const [, crossing] = eventsOf('JobSettled');
    const { availableCredits, accountLockedCredits, chargedCredits } =
      crossing?.data ?? ({} as never);
    const total = Number(availableCredits) + Number(accountLockedCredits);
    expect([total, total + Number(chargedCredits)]).toEqual([9_984, 9_987]);
    expect(low.data.credits_remaining).toBe(Number(availableCredits));
    expect(low.data.usdc_value).toBe(Number(availableCredits) / 100);
  });

  it('name each outcome of a dispute, with the credits that it returns', () => {
    const verdicts = envelopesOf('job.dispute_resolved').map(({ data }) => data);
    expect(verdicts.map(({ outcome }) => outcome).sort()).toEqual([
      'expired',
      'rejected',
      'upheld',
    ]);
    for (const { outcome, credits_returned } of verdicts) {
      expect([outcome, credits_returned]).toEqual([outcome, outcome === 'upheld' ? 3 : 0]);
    }
  });

  it('make an upheld dispute no time-out and no second completion [events.no-status-echo]', () => {
    const disputed = envelopesOf('job.disputed').map(({ data }) => data.job_id);
    const timeouts = envelopesOf('job.timeout').map(({ data }) => data.job_id);
    const completed = envelopesOf('job.completed').map(({ data }) => data.job_id);
    expect(disputed).toHaveLength(3);
    for (const job of disputed) {
      expect(timeouts).not.toContain(job);
      expect(completed.filter((id) => id === job)).toHaveLength(1);
    }
  });
});
