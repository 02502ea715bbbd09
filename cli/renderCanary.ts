import type { PublicKey } from '@solana/web3.js';
import Table from 'cli-table3';
import type { CanaryReport } from '../api/canary/startCanary.ts';
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
      `${one.answers_right} of ${questions}`,
      common === null ? '-' : `${common} of ${questions}`,
      one.tokens_claimed,
      one.tokens_counted,
      firstTokenMs === null ? '-' : `${firstTokenMs} ms`,
      one.credits_charged.toString(),
    ]);
  }
  const failed = workers.filter(({ faults }) => faults.length > 0);
  return [
    `${model}: questions ${questions}, workers ${workers.length}, seed ${seed}`,
    table.toString(),
    ...silent.map((worker) => `${worker} did not answer a probe and was asked nothing.`),
    ...failed.map(({ worker, faults }) => `${worker} FAILED: ${faults.join('; ')}.`),
    failed.length === 0 ? 'Every worker passed.' : FOR_ARBITER,
    ...failed.map(({ worker }) => suspendCommand(worker, programId)),
  ].join('\n');
}

/** As in docs/deploying.md: the node's address and the key are the arbiter's own. */
function suspendCommand(worker: string, programId: PublicKey | undefined): string {
  const program = programId ? ` --program ${programId}` : '';
  const signing = `--rpc "$RPC"${program} --signer arbiter.json`;
  return `npx svc send worker_suspend ${signing} worker=${worker} suspended=true`;
}
