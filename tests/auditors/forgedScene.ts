import type { PublicKey } from '@solana/web3.js';
import { gatherEvidence } from '../../programs/client/verify/job/gatherEvidence.ts';
import { addresses, createJobScene, type JobScene } from '../../testing/ledger/jobScene.ts';
import { type Findings, findingsOf } from './findings.ts';
import { createForgingNode, type Forgery, type ForgingNode } from './forgeries/node.ts';

export const JOB_NAMES = [
  ...(['settled', 'reassigned', 'upheld', 'expired', 'failed', 'refunded', 'closed'] as const),
  ...(['claimable', 'completed', 'retried', 'acknowledged', 'alone', 'repaid', 'open'] as const),
];
export type JobName = (typeof JOB_NAMES)[number];
export type ForgedJobs = Readonly<Record<JobName, PublicKey>>;

/** Time means nothing to a node that forges: it is asked again at once. */
const atOnce = async () => {};

/** Jobs that ended in every way, and a node that lies about them. */
export interface ForgedScene extends JobScene {
  readonly jobs: ForgedJobs;
  readonly node: ForgingNode;
  /** What becomes of a job's checks when it is seen through a forging node. */
  verify(job: PublicKey, forgery: Forgery): Promise<Findings>;
}

/** @param options.version of all transactions of the jobs */
export async function createForgedScene(
  options: Parameters<typeof createJobScene>[0] = {},
): Promise<ForgedScene> {
  const scene = await createJobScene(options);
  const locked = [
    ...(await scene.lock({ count: 4, tokenLimit: 2_000 })),
    ...(await scene.lock({ count: 4, tokenLimit: 2_000 })),
    ...(await scene.lock({ count: 5, tokenLimit: 2_000 })),
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
  // Before the verdict: a worker that was slashed is given no job.
  for (const name of ['expired', 'claimable'] as const) await scene.acknowledge(jobs[name]);
  await scene.dispute(jobs.repaid);
  await scene.dispute(jobs.upheld);
  await scene.resolve(jobs.upheld, 'upheld_worker');
  await scene.resolve(jobs.repaid, 'upheld_gateway');
  await scene.settle(jobs.expired);
  await scene.dispute(jobs.expired);
  await scene.disputeAsWallet(jobs.expired);
  await scene.closePayout();
  await scene.settle(jobs.claimable);
  await scene.wait(86_401);
  await scene.refund(jobs.refunded);
  await scene.expire(jobs.expired);
  await scene.close([jobs.closed]);
  const [open] = await scene.lock({ count: 1, tokenLimit: 2_000 });
  jobs.open = open?.address as PublicKey;
  const node = createForgingNode(scene.ledger.rpcUrl);
  return {
    ...scene,
    jobs,
    node,
    async verify(job, forgery) {
      const connection = node.reader(forgery);
      return findingsOf(await gatherEvidence({ connection, addresses, job, wait: atOnce }));
    },
  };
}
