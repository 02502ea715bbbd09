import {
  claimPay,
  stakeDeposit,
  stakeUnlock,
  stakeWithdraw,
  workerDeregister,
  workerHost,
  workerRegister,
  workerSuspend,
  workerUnhost,
  workerUpdate,
} from '../../../../programs/client/index.ts';
import type { TestWorker } from '../../../../testing/kit/cast.ts';
import { composeWorker } from '../newcomers.ts';
import { withAccount } from '../tampering.ts';
import { addresses, MODEL, STAKE_TOKENS } from '../world.ts';
import { type Books, registerBook, type WorkerBook } from './books.ts';
import { attempt, choose, isFrozen, pick, rarely, type Step, type Walk } from './walk.ts';

const describeWorker = ({ authority, payout, proofKey }: TestWorker) => ({
  ...{ authority: authority.publicKey, payout, proofKey: proofKey.publicKey },
  endpoint: 'https://worker.example',
});

/** After this time no verdict needs the proof key of before. */
const KEY_NEEDED_SECONDS = 90_180n;

/**
 * Now and then the worker names another payee, as it must when its own is frozen for good, or another
 * key for its proofs.
 */
async function update(walk: Walk, worker: WorkerBook): Promise<void> {
  const { authority, payout } = worker.party;
  const { creditMint } = walk.world;
  const isMoving = rarely(walk, 3);
  const payee = isMoving ? walk.world.token(creditMint, authority.publicKey) : payout;
  const isRotating = rarely(walk, 3);
  const proofKey = isRotating ? await walk.world.person() : worker.party.proofKey;
  const party = { ...worker.party, payout: payee, proofKey };
  const { now } = walk.books;
  const changedAt = worker.proofKeyChangedAt;
  const mayRotate = changedAt === 0n || now >= changedAt + KEY_NEEDED_SECONDS;
  const allowed = !isFrozen(walk, payee) && (!isRotating || mayRotate);
  const instruction = workerUpdate(describeWorker(party));
  if (!(await attempt(walk, allowed, instruction))) return;
  worker.party = party;
  if (isRotating) worker.proofKeyChangedAt = now;
}

async function host(walk: Walk, worker: WorkerBook): Promise<void> {
  const { authority } = worker.party;
  const allowed = worker.status !== 'deregistered' && !worker.hosts;
  const instruction = workerHost({ authority: authority.publicKey, modelId: MODEL.id });
  if (await attempt(walk, allowed, instruction)) worker.hosts = true;
}

async function unhost(walk: Walk, worker: WorkerBook): Promise<void> {
  const { authority } = worker.party;
  const instruction = workerUnhost({ authority: authority.publicKey, modelId: MODEL.id });
  if (await attempt(walk, worker.hosts, instruction)) worker.hosts = false;
}

async function suspend(walk: Walk, worker: WorkerBook): Promise<void> {
  const { arbiter, stranger } = walk.world;
  const signer = rarely(walk, 6) ? stranger : arbiter;
  const suspended = rarely(walk, 4);
  const from = suspended ? 'active' : 'suspended';
  const named = { arbiter: signer.publicKey, worker: worker.party.address, suspended };
  const allowed = signer === arbiter && worker.status === from;
  if (await attempt(walk, allowed, workerSuspend(named))) {
    worker.status = suspended ? 'suspended' : 'active';
  }
}

async function deregister(walk: Walk, worker: WorkerBook): Promise<void> {
  const { authority } = worker.party;
  const signer = rarely(walk, 4) ? authority : walk.world.stranger;
  const own = workerDeregister({ authority: authority.publicKey });
  const instruction = withAccount(own, 'authority', signer.publicKey);
  const allowed = signer === authority && worker.status !== 'deregistered';
  if (await attempt(walk, allowed, instruction)) worker.status = 'deregistered';
}

/** Up to the minimum stake or a little more, so that there are eligible workers most of the time. */
async function deposit(walk: Walk, worker: WorkerBook): Promise<void> {
  const { authority, stakeTokens, address } = worker.party;
  const missing = STAKE_TOKENS - worker.stakeTokens;
  const tokens = missing > 0n ? missing : BigInt(walk.random.below(3));
  const allowed =
    tokens > 0n && worker.status !== 'deregistered' && !isFrozen(walk, addresses.stakeVault);
  const from = { depositor: authority.publicKey, depositorTokenAccount: stakeTokens };
  const instruction = stakeDeposit({ ...from, worker: address, tokens });
  if (!(await attempt(walk, allowed, instruction))) return;
  const { unstakeCooldownSeconds } = walk.books.terms;
  const hadNothing = worker.stakeTokens + worker.unstakingTokens === 0n;
  if (hadNothing || unstakeCooldownSeconds < worker.cooldownSeconds) {
    worker.cooldownSeconds = unstakeCooldownSeconds;
  }
  worker.stakeTokens += tokens;
}

async function unlock(walk: Walk, worker: WorkerBook): Promise<void> {
  const { authority } = worker.party;
  const tokens = choose(walk, worker.stakeTokens, 600n, 0n, worker.stakeTokens + 1n);
  const allowed = tokens > 0n && tokens <= worker.stakeTokens;
  const instruction = stakeUnlock({ authority: authority.publicKey, tokens });
  if (!(await attempt(walk, allowed, instruction))) return;
  worker.stakeTokens -= tokens;
  worker.unstakingTokens += tokens;
  worker.unstakeReadyAt = walk.books.now + BigInt(worker.cooldownSeconds);
}

async function withdraw(walk: Walk, worker: WorkerBook): Promise<void> {
  const { authority, stakeTokens } = worker.party;
  const allowed =
    worker.unstakingTokens > 0n &&
    walk.books.now >= worker.unstakeReadyAt &&
    !isFrozen(walk, addresses.stakeVault);
  const to = { authority: authority.publicKey, destination: stakeTokens };
  if (!(await attempt(walk, allowed, stakeWithdraw(to)))) return;
  Object.assign(worker, { unstakingTokens: 0n, unstakeReadyAt: 0n });
}

/** Pays a worker what it could not be paid at settlement. */
export async function claim(walk: Walk, worker: WorkerBook): Promise<void> {
  const { address, payout } = worker.party;
  const canPay = !isFrozen(walk, addresses.vault) && !isFrozen(walk, payout);
  const instruction = claimPay({ claimant: address, payout: payout });
  if (await attempt(walk, worker.claimableBaseUnits > 0n && canPay, instruction)) {
    worker.claimableBaseUnits = 0n;
  }
}

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
