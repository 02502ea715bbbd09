import { ACCOUNT_VERSION } from '../../accounts.ts';
import { isOnCurve } from '../../addresses.ts';
import { accountSize, DISCRIMINATOR_BYTES, decodeStruct, type Value } from '../../codec.ts';
import type { Job, JobLocked } from '../../generated/types.ts';
import { compare, fails, notApplicable, notCheckable } from '../check.ts';
import { eventsNamed, type JobEvent, statusOf } from './record.ts';
import { historyRule, rule } from './rule.ts';

const NO_HASH = new Uint8Array(32);
/** The program measures what the timeout bounds in 16 bits. */
const SECONDS_MAX = 0xffff;
/** The only bump that the program accepts for a job's address. */
const BUMP = 255;

/** The account that a job's events, in their order, leave behind. */
function expectedAccount([locked, ...later]: readonly [
  JobEvent & { name: 'JobLocked' },
  ...JobEvent[],
]): Job {
  const events = [locked, ...later];
  const job = open(locked.data);
  for (const event of later) Object.assign(job, change(event, job));
  return { ...job, sequence: events.length, status: statusOf(events) ?? 'pending' };
}

/** An account of zeros, in which there are neither keys nor hashes, and each word is its first. */
const BLANK = decodeStruct('Job', new Uint8Array(accountSize('Job') - DISCRIMINATOR_BYTES));

function open(lock: JobLocked): Job {
  const own = { version: ACCOUNT_VERSION, bump: BUMP, sequence: 1, lockedAt: lock.unixTime };
  return { ...(BLANK as unknown as Job), ...lock, ...own };
}

function change({ name, data }: JobEvent, job: Job): Partial<Job> {
  const { lockedAt } = job;
  // The ledger's clock may be set back a little: then no time has passed.
  const seconds = Number(data.unixTime > lockedAt ? data.unixTime - lockedAt : 0n);
  const secondsInTime = Math.min(seconds, SECONDS_MAX);
  switch (name) {
    case 'JobAcknowledged': {
      const { worker, attempt } = data;
      // A proof of the attempt before counts no more.
      const unproven = { outputHash: NO_HASH, promptTokens: 0, completionTokens: 0 };
      const times = { acknowledgedAfterSeconds: secondsInTime, provenAfterSeconds: 0 };
      return { worker, attempt, ...unproven, ...times };
    }
    case 'JobProven': {
      const { outputHash, promptTokens, completionTokens } = data;
      return { outputHash, promptTokens, completionTokens, provenAfterSeconds: secondsInTime };
    }
    case 'JobSettled': {
      const { chargedCredits, countedTokens, settledBy } = data;
      return { chargedCredits, countedTokens, settledBy, endedAfterSeconds: seconds };
    }
    case 'JobCompleted': {
      const { worker, attempt, outputHash, promptTokens, completionTokens } = data;
      const { chargedCredits, countedTokens, settledBy } = data;
      const isRecorded = job.attempt === attempt && job.worker.equals(worker);
      return {
        ...{ worker, attempt, outputHash, promptTokens, completionTokens },
        ...{ chargedCredits, countedTokens, settledBy },
        acknowledgedAfterSeconds: isRecorded ? job.acknowledgedAfterSeconds : secondsInTime,
        provenAfterSeconds: secondsInTime,
        endedAfterSeconds: seconds,
      };
    }
    case 'JobFailed':
      return { failureReason: data.reason, endedAfterSeconds: seconds };
    case 'JobRefunded':
      return { endedAfterSeconds: seconds };
    case 'JobDisputed': {
      const { clientHash, disputedByWallet } = data;
      return { clientHash, disputedByWallet, disputedAfterSeconds: seconds };
    }
    case 'DisputeAmended':
      return { clientHash: data.clientHash, disputedByWallet: true };
    case 'DisputeResolved': {
      const { verdict: outcome, chargedCredits } = data;
      return { outcome, chargedCredits, resolvedAfterSeconds: seconds };
    }
    case 'DisputeExpired':
      return { outcome: 'expired', resolvedAfterSeconds: seconds };
    case 'JobLocked':
    case 'JobClosed':
      return {};
  }
}

/** The account says, field by field, what the events say. */
export const state = historyRule('account.state', (record) => {
  const { account, events } = record;
  if (account.kind === 'foreign') return fails(`The account belongs to ${account.owner}.`);
  if (account.kind === 'unreadable') return fails(account.reason);
  if (account.kind === 'none') {
    return eventsNamed(record, 'JobClosed').length > 0
      ? notApplicable('The account is closed.')
      : notCheckable('The node shows neither the account nor what closed it.');
  }
  const [first, ...later] = events;
  const newest = events.at(-1);
  if (newest && isOlder(account.data, newest)) return notCheckable(OLDER_ACCOUNT);
  const isWhole =
    account.data.sequence <= events.length &&
    events.every(({ data }, index) => data.jobSequence === index + 1);
  if (!isWhole || first?.name !== 'JobLocked') {
    return notCheckable('Without every event it is not known what the account should say.');
  }
  const expected = expectedAccount([first, ...later] as [typeof first, ...JobEvent[]]);
  const pairs = Object.keys(account.data).map(
    (field) => [field, [valueIn(account.data, field), valueIn(expected, field)]] as const,
  );
  return compare(
    Object.fromEntries(pairs),
    `All ${pairs.length} fields of the account are as the events left them.`,
  );
});

/** A closed job gave its rent back to who paid it, and lives no more. */
export const closed = rule(
  'account.closed',
  ['JobLocked', 'JobClosed'],
  ({ JobLocked, JobClosed }, { account, job }) => {
    const isPast = account.kind === 'job' && isOlder(account.data, JobClosed);
    if (account.kind !== 'none' && !isPast) {
      return fails('There is an account at the address again.');
    }
    const { rentPayer, rentLamports } = JobClosed.data;
    const { lamports, events, feeLamports, signers } = JobClosed.transaction;
    const returned = events.reduce(
      (sum, { name, data }) =>
        name === 'JobClosed' && data.rentPayer.equals(rentPayer) ? sum + data.rentLamports : sum,
      0n,
    );
    const fee = signers[0]?.equals(rentPayer) ? feeLamports : 0n;
    const payer = lamports.get(rentPayer.toBase58()) ?? { before: 0n, after: 0n };
    const left = lamports.get(job.toBase58()) ?? { before: 0n, after: 0n };
    // The sender can add lamports to both accounts, but take them from neither.
    if (left.before > rentLamports) {
      return fails(`The account had ${left.before} lamports, and ${rentLamports} came back.`);
    }
    const found = compare(
      { 'the rent payer': [rentPayer, JobLocked.data.rentPayer] },
      `${rentLamports} lamports of rent went back to ${rentPayer.toBase58()}.`,
    );
    if (found.verdict === 'fails') return found;
    const gained = payer.after - payer.before;
    if (gained < returned - fee) {
      const change = `The payer's lamports changed by ${gained}, not by ${returned - fee}`;
      // For a program's address its program signs, in a call that no list of signers shows.
      const maySpend =
        signers.some((signer) => signer.equals(rentPayer)) || !isOnCurve(rentPayer.toBytes());
      return maySpend
        ? notCheckable(`${change}: it may have signed for some that it spent.`)
        : fails(`${change}.`);
    }
    return isPast ? notCheckable(OLDER_ACCOUNT) : found;
  },
);

/** Of a node that is behind, or of several behind one address. */
const OLDER_ACCOUNT = 'The node shows the account as it was before the last change that it lists.';

function isOlder({ sequence }: Job, { data }: JobEvent): boolean {
  return sequence < data.jobSequence;
}

function valueIn(account: object, field: string): Value {
  return (account as Record<string, Value>)[field] as Value;
}
