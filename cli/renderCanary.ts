import Table from 'cli-table3';
import type { CanaryReport } from '../api/canary/startCanary.ts';

/** No colours: the output may go to a file. */
const PLAIN = { head: [], border: [], compact: true };
const HEAD = [
  ...['worker', 'proven', 'right', 'common'],
  ...['tokens claimed', 'counted', 'first token', 'credits'],
];

/** The report as a table, what is wrong with whom, and what can be done about it. */
export function renderCanary(
  report: CanaryReport & { model: string; seed: number; questions: number },
): string {
  const { model, seed, questions, workers, silent } = report;
  const table = new Table({ head: HEAD, style: PLAIN });
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
    failed.length === 0
      ? 'Every worker passed.'
      : 'The arbiter keeps them from new jobs, and readmits them with suspended=false:',
    ...failed.map(({ worker }) => suspendCommand(worker)),
  ].join('\n');
}

const suspendCommand = (worker: string): string =>
  `npx svc send worker_suspend worker=${worker} suspended=true --signer <file> --rpc <url>`;
