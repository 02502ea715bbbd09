import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PublicKey } from '@solana/web3.js';
import { fetchJob } from '../../programs/client/index.ts';
import { runCli } from '../../testing/cli.ts';
import { createMirrorDatabase, type MirrorDatabase } from '../../testing/indexer/mirrorDatabase.ts';
import { createScene, type Scene } from '../../testing/indexer/scene.ts';

const HOUR_SECONDS = 3_600;

let scene: Scene;
let mirror: MirrorDatabase;
/** Their jobs: disputed in this order, the last of them decided. */
let urgent: PublicKey;
let later: PublicKey;
let rejected: PublicKey;

beforeAll(async () => {
  scene = await createScene();
  mirror = await createMirrorDatabase();
  const jobs = await scene.lock(3);
  [urgent, later, rejected] = jobs as [PublicKey, PublicKey, PublicKey];
  for (const job of jobs) {
    await scene.acknowledge(job);
    await scene.settle(job);
  }
  await scene.dispute(urgent);
  await scene.wait(10);
  await scene.dispute(later);
  await scene.dispute(rejected);
  await scene.resolve(rejected, 'rejected');
});

afterAll(async () => {
  await mirror?.close();
  await scene?.ledger.close();
});

/** Runs the verb on a mirror that knows of everything so far. @returns what it prints, by dispute */
async function list(...options: string[]) {
  await mirror.apply(await scene.read());
  const env = { DATABASE_URL: mirror.databaseUrl };
  const { output, error, code } = await runCli(['disputes', 'list', ...options], { env });
  expect({ error, code }).toEqual({ error: '', code: 0 });
  const disputes = output.split('┌').slice(1);
  return {
    disputes: disputes.map((table) =>
      Object.fromEntries(
        [...table.matchAll(/│ (\w+) +│ (.*?) +│/g)].map(([, name, value]) => [name, value]),
      ),
    ),
    closing: output.trimEnd().split('\n').at(-1),
  };
}

async function lockedAt(job: PublicKey): Promise<bigint> {
  return (await fetchJob(scene.ledger.connection, job))?.lockedAt ?? 0n;
}

const isoTime = (seconds: bigint) => new Date(Number(seconds) * 1_000).toISOString();

describe('svc disputes list', () => {
  it('shows open disputes, the most urgent first, with what a verdict needs', async () => {
    const { disputes, closing } = await list();
    expect(disputes.map(({ job }) => job)).toEqual([String(urgent), String(later)]);
    const job = await fetchJob(scene.ledger.connection, urgent);
    if (!job) throw new Error('the job is on the ledger');
    const openedAt = job.lockedAt + BigInt(job.disputedAfterSeconds);
    expect(disputes[0]).toEqual({
      status: 'open',
      job_id: `job_${Buffer.from(job.jobId).toString('hex')}`,
      job: String(urgent),
      credit_account: String(scene.service.creditAccount),
      worker: String(scene.service.worker),
      controller: `${scene.service.gateway}, a gateway`,
      wallet: String(scene.service.wallet.publicKey),
      model: scene.service.model.id,
      credits_charged: '3',
      your_hash: `sha256:${Buffer.from(job.clientHash).toString('hex')}`,
      worker_hash: `sha256:${Buffer.from(job.outputHash).toString('hex')}`,
      dispute_tx: expect.stringMatching(/^\w{80,}$/),
      opened_at: isoTime(openedAt),
      arbitration_ends_at: isoTime(openedAt + BigInt(24 * HOUR_SECONDS)),
      left: expect.stringMatching(/^2[34] h \d+ min$/),
    });
    expect(closing).toMatch(/^Open disputes: 2\. Decide with npx svc send dispute_resolve: docs\//);
  });

  it('then shows decided ones, with verdict and evidence', async () => {
    const { disputes } = await list('--all');
    expect(disputes.map(({ job }) => job)).toEqual([urgent, later, rejected].map(String));
    expect(disputes[2]).toMatchObject({
      status: 'rejected',
      resolution_tx: expect.stringMatching(/^\w{80,}$/),
      evidence: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    });
    expect(disputes[2]).not.toHaveProperty('left');
  });

  it("counts down from the mirror's time when that is ahead of its own", async () => {
    await scene.wait(5 * HOUR_SECONDS);
    const [job] = (await scene.lock()) as [PublicKey];
    const { disputes } = await list();
    const endsAtMs = Date.parse(disputes[0]?.arbitration_ends_at ?? '');
    const minutes = Math.floor((endsAtMs / 1_000 - Number(await lockedAt(job))) / 60);
    expect(disputes[0]?.left).toBe(`${Math.floor(minutes / 60)} h ${minutes % 60} min`);
    expect(disputes[0]?.left).toMatch(/^1[89] h/);
  });

  it('reports which disputes are too late to decide, and when none is open', async () => {
    await scene.wait(24 * HOUR_SECONDS);
    await scene.lock();
    expect((await list()).disputes.map(({ left }) => left)).toEqual(
      Array(2).fill('none: it expires'),
    );
    await mirror.pool.query(
      `update jobs set status = 'settled', outcome = 'expired' where status = 'disputed'`,
    );
    expect(await list()).toEqual({ disputes: [], closing: 'No dispute is open.' });
  });
});
