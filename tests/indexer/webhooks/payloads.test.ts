import { beforeAll, describe, expect, it } from '@jest/globals';
import { ownScene, ownWebhookScene } from '../../../testing/indexer/own.ts';
import type { DeliveryRow } from '../../../testing/indexer/webhookScene.ts';
import { type EventKind, WEBHOOK_KINDS } from '../../../webhooks/events.ts';
import { webhookKinds } from '../../../webhooks/kinds.ts';
import { readDocuments } from '../../docs/documents.ts';
import { liveThrough } from '../life.ts';

/** 10,000 credits are bought at first, so that some settlement goes below this. */
const THRESHOLD = 9_985;
const SIGNATURE = expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{80,90}$/);
const JOB_ID = expect.stringMatching(/^job_[0-9a-f]{32}$/);

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
  it('contain of a worker what its first transaction and its slash say [events.data]', () => {
    const chain_slot = expect.any(Number);
    const worker_address = expect.any(String);
    expect(envelopesOf('worker.registered')[0].data).toEqual({
      ...{ worker_address, endpoint: 'http://127.0.0.1:9', models: ['qwen3-8b'], chain_slot },
      ...{ stake_token: 1_000, tx: SIGNATURE },
    });
    expect(envelopesOf('worker.slashed')[0].data).toEqual({
      ...{ worker_address, slash_amount_token: 400, slash_tx: SIGNATURE },
      ...{ reason: 'fraudulent_proof', related_job_id: JOB_ID },
    });
  });

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
