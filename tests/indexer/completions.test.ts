import { beforeAll, describe, expect, it } from '@jest/globals';
import { fieldsOf, STEPS } from '../../common/database/mirrorTables.ts';
import { inTransaction } from '../../common/postgres.ts';
import type { LedgerEvent, LedgerTransaction } from '../../indexer/fold/event.ts';
import { applyTransactions, prepare } from '../../indexer/mirror/apply.ts';
import { revertTransaction } from '../../indexer/mirror/revert.ts';
import { compareJournal } from '../../indexer/reconcile/journal.ts';
import { digestTables } from '../../indexer/sql/digest.ts';
import { camelCase } from '../../programs/client/codec.ts';
import type { EventName } from '../../programs/client/events.ts';
import { addresses, createScene } from '../../testing/indexer/scene.ts';
import { createWebhookScene, type WebhookScene } from '../../testing/indexer/webhookScene.ts';
import { WEBHOOK_KINDS } from '../../webhooks/events.ts';
import { liveThrough } from './life.ts';

type Completion = Extract<LedgerEvent, { name: 'JobCompleted' }>;

/** A history, and the same with the three steps of each completion in its place. */
let atOnce: LedgerTransaction[];
let stepByStep: LedgerTransaction[];
let completions: Completion[];
let wallet: string;

beforeAll(async () => {
  const scene = await createScene();
  await liveThrough(scene);
  atOnce = await scene.read();
  stepByStep = split(atOnce);
  completions = atOnce.flatMap(({ events }) =>
    events.filter((event): event is Completion => event.name === 'JobCompleted'),
  );
  wallet = scene.service.wallet.publicKey.toBase58();
  await scene.ledger.close();
});

/** What earlier releases of the program's callers would have done, one step after the other. */
function split(transactions: readonly LedgerTransaction[]): LedgerTransaction[] {
  /** By job, the last attempt that was acknowledged, and how many sequences were added. */
  const acknowledged = new Map<string, number>();
  const added = new Map<string, number>();
  const stepsOf = (event: LedgerEvent): LedgerEvent[] => {
    if (!('jobSequence' in event.data)) return [event];
    const { job, jobSequence } = event.data;
    const sequence = jobSequence + (added.get(job) ?? 0);
    const isRepeated = 'attempt' in event.data && acknowledged.get(job) === event.data.attempt;
    if ('attempt' in event.data) acknowledged.set(job, event.data.attempt);
    const names = STEPS[event.name]?.slice(isRepeated ? 1 : 0) ?? [event.name];
    added.set(job, sequence + names.length - 1 - jobSequence);
    return names.map((name, place) => stepOf(event, name, { place, sequence: sequence + place }));
  };
  return transactions.map((transaction) => ({
    ...transaction,
    events: transaction.events.flatMap(stepsOf),
  }));
}

const NOTHING_VOIDED = { voidedWorker: '', voidedAttempt: 0, voidedOutputHash: '' };

function stepOf(
  event: LedgerEvent,
  name: EventName,
  { place, sequence }: { place: number; sequence: number },
): LedgerEvent {
  const said = { ...NOTHING_VOIDED, ...event.data, jobSequence: sequence };
  const data = Object.fromEntries(
    fieldsOf(name).map((field) => {
      const key = camelCase(field.name);
      return [key, said[key as keyof typeof said]];
    }),
  );
  return { ...event, name, data, innerIndex: event.innerIndex + 1_000 * place } as LedgerEvent;
}

/** Runs `work` on webhooks of their own for everything that the wallet hears of. */
async function withScene(work: (scene: WebhookScene) => Promise<void>): Promise<void> {
  const scene = await createWebhookScene();
  try {
    await scene.addWebhook({ url: 'https://example.com/all', wallet, events: WEBHOOK_KINDS });
    await scene.pool.query(
      'insert into service.credit_alerts (wallet, threshold_credits) values ($1, 9985)',
      [wallet],
    );
    await work(scene);
  } finally {
    await scene.close();
  }
}

/** Everything that is folded but how many changes a job has had. */
async function digest({ pool }: WebhookScene): Promise<Record<string, string>> {
  await pool.query('update jobs set sequence = 0');
  return digestTables(pool);
}

/** What receivers get, without the ids that follow from an event's place. */
async function received(scene: WebhookScene): Promise<object[]> {
  return (await scene.deliveries()).map(({ body }) => ({ ...JSON.parse(body), id: '' }));
}

async function applyTogether(
  { pool }: WebhookScene,
  transactions: readonly LedgerTransaction[],
): Promise<void> {
  const prepared = transactions.map((transaction) => prepare(transaction, addresses));
  await inTransaction(pool, (client) => applyTransactions(client, prepared, addresses));
}

describe('a job that is completed at once', () => {
  it('leaves the rows and webhooks of one that went step by step', async () => {
    expect(completions).toHaveLength(4);
    await withScene(async (one) => {
      await one.applyAndAnnounce(atOnce);
      await withScene(async (other) => {
        await other.applyAndAnnounce(stepByStep);
        expect(await received(one)).toEqual(await received(other));
        expect(await digest(one)).toEqual(await digest(other));
      });
    });
  });

  it('leaves the same rows where many transactions are stored together', async () => {
    await withScene(async (one) => {
      await applyTogether(one, atOnce);
      await withScene(async (other) => {
        await other.apply(stepByStep);
        expect(await digest(one)).toEqual(await digest(other));
      });
    });
  });

  it('keeps the time of an attempt that was acknowledged before', async () => {
    await withScene(async ({ pool, apply }) => {
      await apply(atOnce);
      const { rows } = await pool.query(
        `select attempt, (settled_at - acknowledged_at)::integer as seconds,
           proven_at = settled_at as is_proven_then
         from jobs where address = any($1) order by attempt, seconds`,
        [completions.map(({ data }) => data.job)],
      );
      const then = { is_proven_then: true };
      expect(rows).toEqual([
        { attempt: 1, seconds: 0, ...then },
        { attempt: 1, seconds: 0, ...then },
        { attempt: 1, seconds: expect.any(Number), ...then },
        { attempt: 2, seconds: 0, ...then },
      ]);
      expect(rows[2].seconds).toBeGreaterThanOrEqual(3);
    });
  });

  it('is undone with its transaction, and announced once more as before', async () => {
    await withScene(async (scene) => {
      const { pool, outbox } = scene;
      await scene.applyAndAnnounce(atOnce);
      const before = await received(scene);
      const tables = await digestTables(pool);
      for (const { signature } of completions) {
        await inTransaction(pool, (client) =>
          revertTransaction(client, signature, addresses, outbox),
        );
        const lost = atOnce.filter((transaction) => transaction.signature === signature);
        await scene.applyAndAnnounce(lost);
      }
      expect(await digestTables(pool)).toEqual(tables);
      const sorted = (bodies: object[]) => bodies.map((body) => JSON.stringify(body)).sort();
      expect(sorted(await received(scene))).toEqual(sorted(before));
      expect(await compareJournal(pool, addresses, new AbortController().signal)).toEqual([]);
    });
  });

  it('sends the processing of its job right before its completion', async () => {
    await withScene(async (scene) => {
      await scene.applyAndAnnounce(atOnce);
      const bodies = (await scene.deliveries()).map(({ body }) => JSON.parse(body));
      const kindsOf = (jobId: string) =>
        bodies.filter(({ data }) => data.job_id === `job_${jobId}`).map(({ event }) => event);
      const [submitted, processing, completed] = [
        'job.submitted',
        'job.processing',
        'job.completed',
      ];
      expect(completions.map(({ data }) => kindsOf(data.jobId))).toEqual([
        [submitted, processing, completed],
        [submitted, processing, completed],
        [submitted, processing, completed],
        [submitted, processing, processing, completed],
      ]);
    });
  });
});
