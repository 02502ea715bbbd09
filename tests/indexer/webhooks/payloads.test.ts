import { beforeAll, describe, expect, it } from '@jest/globals';
import { ownScene, ownWebhookScene } from '../../../testing/indexer/own.ts';
import type { DeliveryRow } from '../../../testing/indexer/webhookScene.ts';
import { type EventKind, WEBHOOK_KINDS } from '../../../webhooks/events.ts';
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

const ledger = await ownScene();
const scene = await ownWebhookScene({ isKept: true });
let deliveries: DeliveryRow[];

beforeAll(async () => {
  await liveThrough(ledger);
  const wallet = ledger.service.wallet.publicKey.toBase58();
  await scene.addWebhook({ url: 'https://example.com/all', wallet, events: WEBHOOK_KINDS });
  await scene.pool.query(
    'insert into service.credit_alerts (wallet, threshold_credits) values ($1, $2)',
    [wallet, THRESHOLD],
  );
  await scene.applyAndAnnounce(await ledger.read());
  deliveries = await scene.deliveries();
});

function envelopesOf(kind: EventKind) {
  return deliveries.filter(({ event }) => event === kind).map(({ body }) => JSON.parse(body));
}

describe('the payloads of webhooks', () => {
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
