import type { PublicKey } from '@solana/web3.js';
import { createJobScene, type JobScene } from '../../../testing/ledger/jobScene.ts';
import { stopClock } from '../../../testing/ledger/ledger.ts';

export const JOB_NAMES = [
  ...(['settled', 'reassigned', 'upheld', 'expired', 'failed', 'refunded', 'closed'] as const),
  ...(['claimable', 'completed', 'retried', 'acknowledged', 'alone', 'repaid', 'long'] as const),
  ...(['upheldAgain', 'unborne', 'open'] as const),
];
export type JobName = (typeof JOB_NAMES)[number];
export type Jobs = Readonly<Record<JobName, PublicKey>>;

const DAY_SECONDS = 86_401;

/** Jobs that ended in every way, and one that is open. */
export interface EndedJobs extends JobScene {
  readonly jobs: Jobs;
}

/** @param options.version of all transactions of the jobs */
export async function createEndedJobs(options: { version: 0 | 1 }): Promise<EndedJobs> {
  const scene = await createJobScene(options);
  // By the same seconds each rule says the same each time.
  await stopClock(scene.ledger.connection);
  const locked = [
    ...(await scene.lock({ count: 4, tokenLimit: 2_000 })),
    ...(await scene.lock({ count: 4, tokenLimit: 2_000 })),
    ...(await scene.lock({ count: 5, tokenLimit: 2_000 })),
    ...(await scene.lock({ count: 1, tokenLimit: 10_000 })),
    ...(await scene.lock({ count: 2, tokenLimit: 2_000 })),
  ];
  const jobs = Object.fromEntries(
    JOB_NAMES.map((name, index) => [name, locked[index]?.address]),
  ) as Record<JobName, PublicKey>;
  await scene.acknowledge(jobs.reassigned);
  await scene.acknowledge(jobs.reassigned, 2);
  await scene.settle(jobs.reassigned, { attempt: 2 });
  for (const name of ['settled', 'closed'] as const) {
    await scene.acknowledge(jobs[name]);
    await scene.settle(jobs[name]);
  }
  await scene.acknowledge(jobs.alone);
  await scene.prove(jobs.alone);
  await scene.settle(jobs.alone);
  for (const name of ['upheld', 'repaid'] as const) await scene.complete(jobs[name]);
  for (const name of ['retried', 'acknowledged'] as const) await scene.acknowledge(jobs[name]);
  await scene.completeTogether([
    { job: jobs.completed, attempt: 1 },
    { job: jobs.retried, attempt: 2 },
    { job: jobs.acknowledged, attempt: 1 },
  ]);
  await scene.fail(jobs.failed);
  // Before the verdicts: a worker that was slashed is given no job.
  await scene.settleAtOnce(jobs.long, { tokens: 9_000 });
  for (const name of ['expired', 'claimable'] as const) await scene.acknowledge(jobs[name]);
  // The worker's stake bears the whole slash twice.
  for (const name of ['upheldAgain', 'unborne'] as const) {
    await scene.complete(jobs[name]);
    // Its controller may bring the wallet to no more.
    await (name === 'unborne' ? scene.disputeAsWallet : scene.dispute)(jobs[name]);
  }
  await scene.dispute(jobs.repaid);
  await scene.dispute(jobs.upheld);
  await scene.resolve(jobs.upheld, 'upheld_worker');
  await scene.resolve(jobs.repaid, 'upheld_gateway');
  for (const name of ['upheldAgain', 'unborne'] as const) {
    await scene.resolve(jobs[name], 'upheld_worker');
  }
  await scene.settle(jobs.expired);
  await scene.dispute(jobs.expired);
  await scene.disputeAsWallet(jobs.expired);
  await scene.closePayout();
  await scene.settle(jobs.claimable);
  await scene.wait(DAY_SECONDS);
  await scene.refund(jobs.refunded);
  await scene.expire(jobs.expired);
  await scene.close([jobs.closed]);
  const [open] = await scene.lock({ count: 1, tokenLimit: 2_000 });
  jobs.open = open?.address as PublicKey;
  return { ...scene, jobs };
}
