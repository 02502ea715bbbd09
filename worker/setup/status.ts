import type { PublicKey } from '@solana/web3.js';
import { workerEndpoint } from '../../programs/client/accounts.ts';
import type { Addresses } from '../../programs/client/addresses.ts';
import { BASE_UNITS_PER_CREDIT } from '../../programs/client/generated/constants.ts';
import type { Config, Worker } from '../../programs/client/generated/types.ts';
import type { LedgerConnection } from '../../programs/client/ledgerConnection.ts';
import { type Earning, type Earnings, readEarnings } from './earnings.ts';
import { readWorkerState } from './ledgerState.ts';
import { type Failure, readHealth, readJobsReport } from './processReports.ts';
import { SetupError } from './setupError.ts';

const DAY_SECONDS = 86_400;

/**
 * What a worker is, does and earns, from the ledger and its own process.
 *
 * @param options.days how far back earnings are read
 * @param options.jobsMax how many jobs are read at most
 * @param options.metricsPort where the worker's process on this machine reports its jobs
 * @throws SetupError when there is no such worker
 */
export async function describeWorker(options: {
  connection: LedgerConnection;
  addresses: Addresses;
  authority: PublicKey;
  metricsPort: string | undefined;
  days: number;
  jobsMax: number;
}): Promise<{ text: string; failures: readonly Failure[] }> {
  const { connection, addresses, authority, metricsPort, days, jobsMax } = options;
  const state = await readWorkerState(connection, addresses, authority);
  const { worker, config, address, hosted } = state;
  if (!worker) throw new SetupError(`${authority} has no worker on this ledger.`);
  const endpoint = workerEndpoint(worker);
  const sinceSeconds = Number(state.unixSeconds) - days * DAY_SECONDS;
  const [health, jobs, earned] = await Promise.all([
    readHealth(endpoint),
    readJobsReport(metricsPort),
    readEarnings({ connection, addresses }, address, { sinceSeconds, jobsMax }),
  ]);
  const text = [
    `Worker           ${address}: ${statusOf(worker, config)}`,
    `Endpoint         ${endpoint}: ${health}`,
    `Process          ${jobs ? `${jobs.in_flight} of ${jobs.slots} jobs` : 'not on this machine'}`,
    `Models           ${hosted.join(', ') || 'none'}`,
    `Stake            ${worker.stakeTokens} tokens, ${worker.unstakingTokens} unlocked`,
    `Claimable        ${credits(worker.claimableBaseUnits)} credits`,
    `Settled          ${jobCount(worker.jobsSettled)} since its registration`,
    `\n${describeEarnings(earned, days)}`,
  ].join('\n');
  return { text, failures: jobs?.failures ?? [] };
}

/** Whether the ledger lets it take jobs, in words. */
function statusOf(worker: Worker, config: Config): string {
  if (worker.status !== 'active') return worker.status;
  if (worker.unstakingTokens > 0n) return 'leaving, its stake is unlocked';
  if (worker.stakeTokens < config.minimumStakeTokens) return 'below the minimum stake';
  return 'active';
}

/** Two bar charts and their sum. */
export function describeEarnings({ earnings, isCutOff }: Earnings, days: number): string {
  if (earnings.length === 0) return `No job was settled in ${days} days.`;
  const count = jobCount(earnings.length);
  const jobs = isCutOff ? `the last ${count}` : count;
  return [
    `Earned ${credits(sum(earnings))} credits with ${jobs} in ${days} days`,
    plotBy(earnings, ({ day }) => day),
    plotBy(earnings, ({ model }) => model),
  ].join('\n\n');
}

function plotBy(earnings: readonly Earning[], keyOf: (earning: Earning) => string): string {
  const groups = Map.groupBy(earnings, keyOf);
  const bars = [...groups].map(([label, group]) => {
    const baseUnits = sum(group);
    const text = `${credits(baseUnits)} credits, ${jobCount(group.length)}`;
    return { label, value: Number(baseUnits), text };
  });
  return plotBars(bars.sort((one, other) => (one.label < other.label ? -1 : 1)));
}

function sum(earnings: readonly Earning[]): bigint {
  return earnings.reduce((total, { baseUnits }) => total + baseUnits, 0n);
}

function jobCount(count: number | bigint): string {
  return `${count} ${Number(count) === 1 ? 'job' : 'jobs'}`;
}

/** A worker's share has parts of credits: two decimals, rounded down. */
function credits(baseUnits: bigint): string {
  const hundredths = (baseUnits * 100n) / BASE_UNITS_PER_CREDIT;
  return `${hundredths / 100n}.${String(hundredths % 100n).padStart(2, '0')}`;
}

/** One line of a bar chart. */
interface Bar {
  readonly label: string;
  readonly value: number;
  /** Printed behind the bar. */
  readonly text: string;
}

const BAR_CHARACTERS = 40;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const;
const PARTS = EIGHTHS.length;

/** Draws bars in proportion to the greatest value, to an eighth of a character. */
export function plotBars(bars: readonly Bar[]): string {
  const greatest = Math.max(...bars.map(({ value }) => value), 0);
  const labelWidth = Math.max(...bars.map(({ label }) => label.length), 0);
  return bars
    .map(({ label, value, text }) => {
      const parts = greatest === 0 ? 0 : Math.round((value / greatest) * BAR_CHARACTERS * PARTS);
      const bar = '█'.repeat(Math.floor(parts / PARTS)) + EIGHTHS[parts % PARTS];
      return `${label.padEnd(labelWidth)}  ${bar}${bar && ' '}${text}`;
    })
    .join('\n');
}
