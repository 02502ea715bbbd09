import { randomInt } from 'node:crypto';
import type { PublicKey } from '@solana/web3.js';
import Table from 'cli-table3';
import { Command, InvalidArgumentError } from 'commander';
import { CanaryRefusedError, type CanaryReport, startCanary } from '../../api/canary/start.ts';
import { loadConfig } from '../../api/config.ts';
import { ApiError } from '../../api/contracts/errors.ts';
import { PriceChangedError } from '../../api/ledger/job.ts';
import { selectModels } from '../../api/sql/workers.ts';
import { ConfigError } from '../../common/config.ts';
import { getSlot } from '../../programs/client/rpc/methods.ts';
import { LedgerUnavailableError } from '../../programs/client/sender/sendResult.ts';
import { asCommandError, messageOf } from '../terminal/asCommandError.ts';
import { parseAddressText, withLedgerNode } from '../terminal/ledgerNode.ts';
import { COMPACT, within } from '../terminal/output.ts';
import { renderJson } from '../terminal/renderChecks.ts';
import { withDatabase } from './database.ts';

const HEAD = [
  ...['worker', 'proven', 'right', 'schema'],
  ...['tokens claimed', 'counted', 'first token', 'credits'],
];
const FOR_ARBITER =
  'The arbiter, with a node of the ledger in RPC and the key in arbiter.json, keeps them from new ' +
  'jobs, and readmits them with suspended=false:';

/**
 * The report as a table, the faults of each worker, and the commands to suspend it.
 *
 * @param programId the deployment, unless it is the published one
 */
export function renderCanary(
  report: CanaryReport & { model: string; seed: number; questions: number },
  programId?: PublicKey,
): string {
  const { model, seed, questions, workers, silent } = report;
  const table = new Table({ head: HEAD, style: COMPACT });
  for (const one of workers) {
    const { first_token_p50_ms: firstTokenMs, formats_judged: judged } = one;
    table.push([
      one.worker,
      `${one.jobs_proven} of ${one.jobs_asked}`,
      `${one.answers_right} of ${one.jobs_asked - one.jobs_refused}`,
      judged === 0 ? '-' : `${one.formats_kept} of ${judged}`,
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

/** Whether every worker was judged and has no fault. */
export function hasPassed({ workers }: Pick<CanaryReport, 'workers'>): boolean {
  return workers.every(({ faults, jobs_refused }) => faults.length === 0 && jobs_refused === 0);
}

/** As in docs/operating.md. The arbiter supplies the node's address and the key. */
function suspendCommand(worker: string, programId: PublicKey | undefined): string {
  const program = programId ? ` --program ${programId}` : '';
  const signing = `--rpc "$RPC"${program} --signer arbiter.json`;
  return `npx svc send worker_suspend ${signing} worker=${worker} suspended=true`;
}

interface Options {
  readonly model: string;
  readonly wallet: string;
  readonly worker?: string;
  readonly questions: number;
  readonly rightMin: number;
  readonly seed?: number;
  readonly json?: true;
}

const QUESTIONS_MAX = 1_000;
/** The limit of `randomInt`. */
const SEED_MAX = 2 ** 48 - 1;

/** `svc canary`: tests workers with paid jobs, with the settings of the API. */
export function createCanaryCommand(): Command {
  return new Command('canary')
    .description('test workers with paid jobs whose right answers are known')
    .requiredOption('--model <id>', 'the model whose workers are tested')
    .requiredOption(
      '--wallet <address>',
      'the wallet that pays; it trusts the gateway',
      parseAddressText,
    )
    .option(
      '--worker <address>',
      'only this worker; default: all that answer a probe',
      parseAddressText,
    )
    .option(
      '--questions <count>',
      'the number of questions for each worker',
      within(1, QUESTIONS_MAX),
      5,
    )
    .option('--right-min <share>', 'the share of right answers, from 0 to 1', parseShare, 0.6)
    .option('--seed <number>', 'repeats the questions of an earlier run', parseSeed)
    .option('--json', 'print JSON')
    .action(run);
}

async function run(options: Options): Promise<void> {
  const { model, wallet, worker, questions, rightMin, seed = randomInt(SEED_MAX) } = options;
  // Printed first, so that every run can be repeated, also a failed one.
  console.error(`Seed ${seed}`);
  const interruption = new AbortController();
  // Not `once`: Ctrl-C arrives from the terminal and from the launcher. The second one must not kill
  // the process while it fails the running jobs.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => interruption.abort());
  }
  const { workers, silent, programId } = await asCommandError(async () => {
    const config = loadConfig();
    // An unreachable database or node is reported here at once; the API's parts would wait for it.
    await withDatabase(async (pool) => void (await selectModels(pool)));
    const rpc = new URL(config.SOLANA_RPC_URL);
    await withLedgerNode({ rpc }, (node) => getSlot(node.rpc, { commitment: 'confirmed' }));
    const report = await startCanary(config, {
      modelId: model,
      wallet,
      worker,
      questions,
      rightMin,
      seed,
      interrupted: interruption.signal,
    });
    return { ...report, programId: config.SVC_PROGRAM_ID };
  }, explain);
  const passed = hasPassed({ workers });
  if (!passed) process.exitCode = 1;
  const report = { passed, model, seed, questions, right_min: rightMin, workers, silent };
  console.log(options.json ? renderJson(report) : renderCanary(report, programId));
}

function explain(error: Error): string | undefined {
  if (error instanceof PriceChangedError) return 'The price of the model is changing; try again.';
  return messageOf(CanaryRefusedError, ConfigError, ApiError, LedgerUnavailableError)(error);
}

function parseShare(text: string): number {
  const share = Number(text);
  if (text !== '' && share >= 0 && share <= 1) return share;
  throw new InvalidArgumentError('It must be a number from 0 to 1.');
}

function parseSeed(text: string): number {
  const seed = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(seed)) return seed;
  throw new InvalidArgumentError('It must be a whole number.');
}
