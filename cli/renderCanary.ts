import type { PublicKey } from '@solana/web3.js';
import Table from 'cli-table3';
import type { CanaryReport } from '../api/canary/start.ts';
import { COMPACT } from './tableStyle.ts';

const HEAD = [
  ...['worker', 'proven', 'right', 'common'],
  ...['tokens claimed', 'counted', 'first token', 'credits'],
];
const FOR_ARBITER =
  'The arbiter, with a node of the ledger in RPC and the key in arbiter.json, keeps them from new ' +
  'jobs, and readmits them with suspended=false:';

/**
 * The report as a table, what is wrong with whom, and what can be done about it.
 *
 * @param programId of another deployment than the published one
 */
export function renderCanary(
  report: CanaryReport & { model: string; seed: number; questions: number },
  programId?: PublicKey,
): string {
  const { model, seed, questions, workers, silent } = report;
  const table = new Table({ head: HEAD, style: COMPACT });
  for (const one of workers) {
    const { first_token_p50_ms: firstTokenMs, answers_common: common } = one;
    table.push([
      one.worker,
      `${one.jobs_proven} of ${one.jobs_asked}`,
      `${one.answers_right} of ${one.jobs_asked - one.jobs_refused}`,
      common === null ? '-' : `${common} of ${questions}`,
      one.tokens_claimed,
      one.tokens_counted,
      firstTokenMs === null ? '-' : `${firstTokenMs} ms`,
      one.credits_charged.toString(),
    ]);
  }
  const full = workers.filter(({ jobs_refused }) => jobs_refused > 0);
  const failed = workers.filter(({ faults }) => faults.length > 0);
  return [
    `${model}: questions ${questions}, workers ${workers.length}, seed ${seed}`,
    table.toString(),
    ...silent.map((worker) => `${worker} did not answer a probe and was asked nothing.`),
    ...full.map(
      ({ worker, jobs_asked: asked, jobs_refused: refused }) =>
        `${worker} was full at ${refused} of ${asked} questions: try it again.`,
    ),
    ...failed.map(({ worker, faults }) => `${worker} FAILED: ${faults.join('; ')}.`),
    ...(hasPassed(report) ? ['Every worker passed.'] : []),
    ...(failed.length > 0 ? [FOR_ARBITER] : []),
    ...failed.map(({ worker }) => suspendCommand(worker, programId)),
  ].join('\n');
}

/** Whether every worker could be judged, and is good enough. */
export function hasPassed({ workers }: Pick<CanaryReport, 'workers'>): boolean {
  return workers.every(({ faults, jobs_refused }) => faults.length === 0 && jobs_refused === 0);
}

/** As in docs/deploying.md: the node's address and the key are the arbiter's own. */
function suspendCommand(worker: string, programId: PublicKey | undefined): string {
  const program = programId ? ` --program ${programId}` : '';
  const signing = `--rpc "$RPC"${program} --signer arbiter.json`;
  return `npx svc send worker_suspend ${signing} worker=${worker} suspended=true`;
}
