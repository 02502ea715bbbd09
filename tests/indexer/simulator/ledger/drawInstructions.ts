import { buy, openWallet, withdraw } from '../../../../testing/indexer/program/credit.ts';
import { dispute, expire, resolve } from '../../../../testing/indexer/program/dispute.ts';
import { acknowledge, lock, prove } from '../../../../testing/indexer/program/job.ts';
import { close, complete, giveBack, settle } from '../../../../testing/indexer/program/jobEnd.ts';
import type {
  Instruction,
  JobAccount,
  ProgramState,
} from '../../../../testing/indexer/program/programState.ts';
import { pause, payClaim, withdrawTreasury } from '../../../../testing/indexer/program/treasury.ts';
import {
  depositStake,
  registerWorker,
  setHosting,
  updateWorker,
} from '../../../../testing/indexer/program/worker.ts';
import type { Chance } from '../chance.ts';

export const WALLETS = ['anna', 'boris', 'clara'];
const WORKERS = ['worker 1', 'worker 2', 'worker 3'];
/** Near the threshold of `credit.low`, so that it is crossed again and again. */
const PURCHASE_CREDITS_MAX = 60;

/**
 * What somebody might do next, in one transaction. After a fork it may land upon another state, and
 * be refused there.
 */
export function drawInstructions(state: ProgramState, chance: Chance): readonly Instruction[] {
  const wallet = chance.pick(WALLETS) as string;
  const worker = chance.pick(WORKERS) as string;
  if (!state.wallets.has(wallet)) return [openWallet(wallet), buy(wallet, 120n)];
  if (!state.workers.has(worker)) {
    return [registerWorker(worker), depositStake(worker), setHosting(worker, true)];
  }
  const draw = chance.below(100);
  if (draw < 65) return drawJobInstructions(state, chance, worker);
  if (draw < 85) {
    return Array.from({ length: 1 + chance.below(3) }, () => lock(jobId(chance), wallet));
  }
  if (draw < 91) return [buy(wallet, BigInt(1 + chance.below(PURCHASE_CREDITS_MAX)))];
  if (draw < 93) return [withdraw(wallet, BigInt(1 + chance.below(20)))];
  return chance.pick([
    [updateWorker(worker, `https://worker.example/${chance.below(1_000)}`)],
    [setHosting(worker, chance.happens(500))],
    [payClaim('worker', worker)],
    [payClaim('credit_account', wallet), buy(wallet, 1n)],
    [payClaim('treasury', '')],
    [withdrawTreasury],
    [pause(chance.happens(500))],
  ]) as readonly Instruction[];
}

/** What may follow in the life of a job that is drawn. */
function drawJobInstructions(
  { jobs, wallets }: ProgramState,
  chance: Chance,
  worker: string,
): readonly Instruction[] {
  const job = chance.pick([...jobs.values()].filter(({ isClosed }) => !isClosed));
  if (!job) return [lock(jobId(chance), chance.pick([...wallets.keys()]) as string)];
  return chance.pick(nextInstructions(job, worker, chance)) as readonly Instruction[];
}

function nextInstructions(
  job: JobAccount,
  worker: string,
  chance: Chance,
): readonly (readonly Instruction[])[] {
  const { jobId: id } = job;
  const paid = { worker: chance.happens(800), treasury: chance.happens(900) };
  const settlement = settle(id, paid);
  // By the id, so that the draws of the notable seeds stay as they are.
  const isAtOnce = Number.parseInt(id.slice(-1), 16) % 2 === 0;
  switch (job.status) {
    case 'pending':
      return [
        [acknowledge(id, worker)],
        isAtOnce ? [complete(id, worker, paid)] : [acknowledge(id, worker), prove(id), settlement],
        [giveBack(id, 'JobFailed')],
        [giveBack(id, 'JobRefunded')],
      ];
    case 'processing':
      return [
        [prove(id), settlement],
        isAtOnce ? [complete(id, worker, paid)] : [prove(id), settlement],
        [acknowledge(id, worker)],
      ];
    case 'settled':
      return job.isDecided ? [[close(id)]] : [[close(id)], [dispute(id)]];
    case 'disputed':
      return [
        [resolve(id, 'rejected')],
        [resolve(id, 'upheld_gateway')],
        [resolve(id, 'upheld_worker')],
        [expire(id)],
      ];
    default:
      return [[close(id)]];
  }
}

function jobId(chance: Chance): string {
  return Array.from({ length: 32 }, () => chance.below(16).toString(16)).join('');
}
