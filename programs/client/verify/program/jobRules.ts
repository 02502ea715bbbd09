import { isEnded } from '../../accounts.ts';
import type { Job } from '../../generated/types.ts';
import { chargeCredits, lockCredits, repayableCredits, treasuryCredits } from '../../pricing.ts';
import { GRACE_SECONDS } from '../check.ts';
import { accountsNamed, judgeProblems, type ProgramState, programRule } from './state.ts';

/** Nothing waits any longer than it may. */
export const deadlines = programRule('jobs.deadlines', (state) => {
  const waiting = accountsNamed(state, 'Job').flatMap(({ address, data }) => {
    const deadline = deadlineOf(data);
    return deadline === undefined ? [] : [{ address, late: state.now - deadline }];
  });
  return judgeProblems(
    waiting
      .filter(({ late }) => late > GRACE_SECONDS)
      .map(({ address, late }) => `${address} is ${late} s overdue`),
    `Open jobs and disputes: ${waiting.length}, none more than ${GRACE_SECONDS} s overdue.`,
  );
});

/** What jobs locked and were charged follows from the prices that they were locked at. */
export const prices = programRule('jobs.prices', (state) => {
  const jobs = accountsNamed(state, 'Job');
  return judgeProblems(
    jobs.flatMap(({ address, data }) => {
      const locked = lockCredits(data, data.tokenLimit);
      const [charged, ...others] = chargesOf(data);
      return [
        ...(data.lockedCredits === locked
          ? []
          : [`${address} locked ${data.lockedCredits}, not ${locked}`]),
        ...([charged, ...others].includes(data.chargedCredits)
          ? []
          : [`${address} charged ${data.chargedCredits}, not ${charged}`]),
      ];
    }),
    `Jobs that are priced by the published rule: ${jobs.length}.`,
  );
});

/** A wallet's locked credits are those of its jobs that have not ended. */
export const locks = programRule('credits.locked', (state) => {
  const open = accountsNamed(state, 'Job').filter(({ data }) => !isEnded(data.status));
  const sums = sumByAccount(open, ({ data }) => data.lockedCredits);
  return judgeProblems(
    compareSums(state, sums, ({ lockedCredits }) => lockedCredits, 'locked credits'),
    `Jobs that hold all locks: ${open.length}.`,
  );
});

/** A wallet's open disputes are its jobs that are disputed. */
export const disputes = programRule('credits.disputes', (state) => {
  const open = accountsNamed(state, 'Job').filter(({ data }) => data.status === 'disputed');
  const sums = sumByAccount(open, () => 1n);
  return judgeProblems(
    compareSums(state, sums, ({ openDisputes }) => BigInt(openDisputes), 'open disputes'),
    `Open disputes: ${open.length}.`,
  );
});

/**
 * A wallet's sum of the day covers what its jobs of that day hold and were charged. Of closed jobs
 * nothing is known, so that it may be more.
 */
export const days = programRule('credits.day', (state) => {
  const accounts = new Map(
    accountsNamed(state, 'CreditAccount').map(({ address, data }) => [address.toBase58(), data]),
  );
  const counted = accountsNamed(state, 'Job').filter(
    ({ data: { creditAccount, limitDay } }) =>
      limitDay !== 0 && limitDay === accounts.get(creditAccount.toBase58())?.spentDay,
  );
  const sums = sumByAccount(counted, ({ data }) =>
    isEnded(data.status) ? data.chargedCredits : data.lockedCredits,
  );
  return judgeProblems(
    [...sums].flatMap(([address, due]) => {
      const found = accounts.get(address)?.spentTodayCredits ?? 0n;
      return found < due ? [`${address} counts ${found} credits, its jobs of the day ${due}`] : [];
    }),
    `Jobs that a day's limit counts: ${counted.length}.`,
  );
});

/** In Unix seconds; undefined when the job waits for nothing. */
function deadlineOf(job: Job): bigint | undefined {
  const { status } = job;
  if (!isEnded(status)) return job.lockedAt + BigInt(job.jobTimeoutSeconds);
  if (status !== 'disputed') return undefined;
  return job.lockedAt + BigInt(job.disputedAfterSeconds + job.arbitrationWindowSeconds);
}

/**
 * What a job may have been charged. For a convicted worker's job there are two amounts: its account
 * does not say whether the stake bore the whole slash. The event does, and verifyJob reads it.
 */
function chargesOf(job: Job): [bigint, ...bigint[]] {
  const { outcome, status } = job;
  const isRepaid = outcome === 'upheld_gateway' || outcome === 'upheld_worker';
  if (status !== 'settled' && status !== 'disputed' && !isRepaid) return [0n];
  const tokens = Math.min(job.completionTokens, job.countedTokens);
  const charge = chargeCredits(job, tokens, job.lockedCredits);
  if (!isRepaid) return [charge];
  const repaid = charge - repayableCredits(charge, job);
  return outcome === 'upheld_worker' ? [repaid, charge - treasuryCredits(charge, job)] : [repaid];
}

type LocatedJob = ReturnType<typeof accountsNamed<'Job'>>[number];
type CreditAccount = ReturnType<typeof accountsNamed<'CreditAccount'>>[number]['data'];

function sumByAccount(jobs: readonly LocatedJob[], amount: (job: LocatedJob) => bigint) {
  const sums = new Map<string, bigint>();
  for (const job of jobs) {
    const key = job.data.creditAccount.toBase58();
    sums.set(key, (sums.get(key) ?? 0n) + amount(job));
  }
  return sums;
}

function compareSums(
  state: ProgramState,
  sums: ReadonlyMap<string, bigint>,
  recorded: (account: CreditAccount) => bigint,
  what: string,
): string[] {
  const amounts = new Map(
    accountsNamed(state, 'CreditAccount').map(({ address, data }) => [
      address.toBase58(),
      recorded(data),
    ]),
  );
  return [...new Set([...amounts.keys(), ...sums.keys()])].flatMap((address) => {
    const due = sums.get(address) ?? 0n;
    const found = amounts.get(address);
    if (found === due) return [];
    return found === undefined
      ? [`${address}, with ${due} ${what}, does not exist`]
      : [`${address} has ${found} ${what}, its jobs ${due}`];
  });
}
