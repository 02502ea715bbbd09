import type { Keypair } from '@solana/web3.js';
import { delay, systemTime, type Time } from '../../common/wait.ts';
import type { Addresses } from '../../programs/client/addresses.ts';
import { JOB_TIMEOUT_SECONDS } from '../../programs/client/generated/constants.ts';
import { stakeUnlock, stakeWithdraw, workerUnhost } from '../../programs/client/instructions.ts';
import type { LedgerConnection } from '../../programs/client/ledgerConnection.ts';
import type { Rpc } from '../../programs/client/rpc/rpc.ts';
import { tokenAccountCreate } from '../../programs/client/token/instructions.ts';
import { readTokenBalance, readWorkerState } from './ledgerState.ts';
import { readJobsReport } from './processReports.ts';
import { SetupError } from './setupError.ts';
import { sendTogether } from './transactions.ts';

/** A gateway that has not yet seen the change may still send jobs. */
const QUIET_MS = 5_000;
const POLL_MS = 250;
/** The longest life of a job, and half a minute. */
const DRAIN_MS_MAX = (JOB_TIMEOUT_SECONDS + 30) * 1_000;

/**
 * Ends a worker step by step: no further jobs, then the stake. Safe to repeat; once the cooldown is
 * over it withdraws.
 *
 * @param metricsPort where the worker's process on this machine reports its jobs
 * @param report gets one line for each step
 * @param time what it waits by: a test moves it on
 * @throws SetupError when there is no worker, or its jobs do not end
 */
export async function leaveService(options: {
  rpc: Rpc;
  connection: LedgerConnection;
  addresses: Addresses;
  authority: Keypair;
  metricsPort: string | undefined;
  report: (line: string) => void;
  time?: Time;
}): Promise<void> {
  const { rpc, connection, addresses, authority: key, metricsPort, report } = options;
  const { time = systemTime } = options;
  const authority = key.publicKey;
  const { programId } = addresses;
  async function readState() {
    const { worker, ...state } = await readWorkerState(connection, addresses, authority);
    if (!worker) throw new SetupError(`${authority} has no worker on this ledger.`);
    return { ...state, worker };
  }

  const { worker, hosted, config, unixSeconds } = await readState();

  if (hosted.length > 0) {
    const unhosts = hosted.map((modelId) => workerUnhost({ programId, authority, modelId }));
    await sendTogether(rpc, key, unhosts);
    report(`Unhosted ${hosted.join(', ')}. Gateways send no further jobs.`);
  }
  if (worker.stakeTokens > 0n) {
    await untilDrained(metricsPort, time);
    report('No job runs any more. The process of svc worker run can be ended.');
    // Minutes have passed, in which somebody may have staked more or a verdict slashed some.
    const drained = await readState();
    const tokens = drained.worker.stakeTokens;
    await sendTogether(rpc, key, [stakeUnlock({ programId, authority, tokens })]);
    const readyAt = drained.unixSeconds + BigInt(drained.worker.unstakeCooldownSeconds);
    report(`Unlocked ${tokens} tokens. Run this again after ${timeOf(readyAt)} to withdraw them.`);
    return;
  }
  const tokens = worker.unstakingTokens;
  if (tokens === 0n) {
    report('It hosts nothing and has nothing at stake.');
    return;
  }
  const { unstakeReadyAt } = worker;
  if (unstakeReadyAt > unixSeconds) {
    report(`${tokens} tokens wait until ${timeOf(unstakeReadyAt)}. Run this again then.`);
    return;
  }
  const { address: destination } = await readTokenBalance(connection, config.stakeMint, authority);
  await sendTogether(rpc, key, [
    tokenAccountCreate({ payer: authority, owner: authority, mint: config.stakeMint }),
    stakeWithdraw({ programId, authority, destination }),
  ]);
  report(`Withdrew ${tokens} tokens to ${destination}.`);
}

function timeOf(unixSeconds: bigint): string {
  return new Date(Number(unixSeconds) * 1_000).toISOString();
}

/** Waits until the worker on this machine has run no job for some seconds. */
async function untilDrained(metricsPort: string | undefined, time: Time): Promise<void> {
  const untilMs = time.nowMs() + DRAIN_MS_MAX;
  let quietSinceMs = time.nowMs();
  while (time.nowMs() - quietSinceMs < QUIET_MS) {
    if (time.nowMs() > untilMs) throw new SetupError('Jobs still run. Run this again.');
    const jobs = await readJobsReport(metricsPort);
    // A process that is not there runs no job.
    if (!jobs) return;
    if (jobs.in_flight > 0) quietSinceMs = time.nowMs();
    await delay(POLL_MS, undefined, time);
  }
}
