import { workerRegister } from '../../../../programs/client/index.ts';
import { composeWorker } from '../newcomers.ts';
import { STAKE_TOKENS } from '../world.ts';
import { type Books, registerBook, type WorkerBook } from './books.ts';
import { attempt, pick, type Step, type Walk } from './walk.ts';
import {
  claim,
  deposit,
  deregister,
  describeWorker,
  host,
  suspend,
  unhost,
  unlock,
  update,
  withdraw,
} from './workerActs.ts';

const IN_SERVICE_MAX = 4;

type Act = (walk: Walk, worker: WorkerBook) => Promise<void>;

/** A step about one of the workers. */
const onWorker =
  (act: Act): Step =>
  async (walk) => {
    const worker = pick(walk, walk.books.workers);
    if (worker !== undefined) await act(walk, worker);
  };

const register: Step = async (walk) => {
  const { world, books } = walk;
  forgetGone(books);
  const inService = books.workers.filter(({ status }) => status !== 'deregistered');
  const known = pick(walk, books.workers);
  const isNew = inService.length < IN_SERVICE_MAX || known === undefined;
  const party = isNew ? await composeWorker(world) : known.party;
  const instruction = workerRegister(describeWorker(party));
  if (await attempt(walk, isNew, instruction)) {
    books.workers.push(registerBook(party));
  }
};

/** Drops workers that left, hold nothing and have no job: they can gain and lose nothing more. */
function forgetGone(books: Books): void {
  books.workers = books.workers.filter(
    (worker) =>
      worker.status !== 'deregistered' ||
      worker.stakeTokens + worker.unstakingTokens + worker.claimableBaseUnits > 0n ||
      books.jobs.some((job) => job.worker === worker),
  );
}

/** What would bring the worker nearer to being given jobs, or away from a verdict with its stake. */
function nextAct({ now, jobs }: Books, worker: WorkerBook): Act {
  const { status, hosts, stakeTokens, unstakingTokens, unstakeReadyAt } = worker;
  if (unstakingTokens > 0n && now >= unstakeReadyAt) return withdraw;
  if (status === 'deregistered') return worker.claimableBaseUnits > 0n ? claim : unlock;
  const isDisputed = jobs.some((job) => job.worker === worker && job.status === 'disputed');
  if (isDisputed && stakeTokens > 0n) return unlock;
  if (status === 'suspended') return suspend;
  if (!hosts) return host;
  return stakeTokens < STAKE_TOKENS ? deposit : update;
}

/** Half of the steps are what the worker needs; the others are any. */
export const workerSteps: readonly Step[] = [
  register,
  ...[update, host, unhost, suspend, deregister, deposit, unlock, withdraw, claim].flatMap(
    (act) => [onWorker(act), onWorker((walk, worker) => nextAct(walk.books, worker)(walk, worker))],
  ),
];
