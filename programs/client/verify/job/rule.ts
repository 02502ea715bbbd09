import {
  type Check,
  compare,
  type Finding,
  notApplicable,
  notCheckable,
  type Place,
} from '../check.ts';
import type { PlacedEvent } from './evidence.ts';
import {
  type Balances,
  balancesBefore,
  changingTransactions,
  eventsNamed,
  type JobEventName,
  type JobRecord,
} from './record.ts';

/** Judges one thing about a job. */
export type Rule = (record: JobRecord) => Check;

/** For a transaction whose signed bytes are not known; a sentence without its full stop. */
export const NODE_SAYS_WHO_SIGNED =
  'In a version that this client does not know, only the node says who signed';

/** For the instructions of such a transaction. */
export const NOT_SHOWN =
  'In a version that this client does not know, the node does not show the signed messages.';

/** A job ends in one of these ways. */
const ENDINGS: readonly JobEventName[] = ['JobSettled', 'JobFailed', 'JobRefunded'];

/**
 * A rule about events of a job. Its evidence is the transactions that emitted them. When an event did
 * not happen, the rule does not apply. When it may have happened and is not shown, the rule cannot be
 * checked.
 *
 * @param needs the events that the rule is about; of several of one kind it judges the last
 */
export function rule<Name extends JobEventName>(
  name: string,
  needs: readonly Name[],
  judge: (events: { readonly [One in Name]: PlacedEvent<One> }, record: JobRecord) => Finding,
): Rule {
  return (record) => {
    const found = new Map(needs.map((need) => [need, eventsNamed(record, need).at(-1)]));
    const missing = needs.find((need) => found.get(need) === undefined);
    if (missing !== undefined) return { name, ...judgeAbsence(missing, record), evidence: [] };
    const evidence = places([...found.values()].flatMap((event) => event?.transaction ?? []));
    return { name, ...judge(Object.fromEntries(found) as never, record), evidence };
  };
}

/** A rule about everything that happened to a job. */
export function historyRule(name: string, judge: (record: JobRecord) => Finding): Rule {
  return (record) => {
    const evidence = places(changingTransactions(record));
    const finding =
      record.events.length === 0
        ? notCheckable('The node shows nothing that happened to the job.')
        : judge(record);
    return { name, ...finding, evidence };
  };
}

function judgeAbsence(missing: JobEventName, { steps, isComplete }: JobRecord): Finding {
  const endedOtherwise =
    ENDINGS.includes(missing) && steps.some(({ name }) => ENDINGS.includes(name));
  return isComplete || endedOtherwise
    ? notApplicable(`The job has no ${missing}.`)
    : notCheckable(`The node does not show all of the job's history, and no ${missing}.`);
}

function places(transactions: readonly Place[]): Place[] {
  const bySignature = new Map(transactions.map((one) => [one.signature, one]));
  return [...bySignature.values()].map(({ signature, slot }) => ({ signature, slot }));
}

/**
 * Compares a credit account after an event with what it held before, to which `change` is added.
 *
 * @param change.limitDay the day whose limit counts the job's lock; zero when none does
 */
export function judgeBalances(
  { creditEvents }: JobRecord,
  { data }: PlacedEvent<'JobLocked' | 'JobSettled' | 'JobFailed' | 'JobRefunded'>,
  change: Balances & { readonly limitDay: number },
): Finding {
  const before = balancesBefore(creditEvents, data.creditAccount, data.creditSequence);
  if (before === undefined) {
    return notCheckable('The node does not show what the credit account held before.');
  }
  const { availableCredits, accountLockedCredits, spentTodayCredits } = data;
  const sums = daySums(before.spentTodayCredits, change);
  return compare(
    {
      'what is available': [availableCredits, before.availableCredits + change.availableCredits],
      'what is locked': [accountLockedCredits, before.lockedCredits + change.lockedCredits],
      ...(sums.length > 0 &&
        !sums.includes(spentTodayCredits) && {
          "the day's sum": [spentTodayCredits, sums.join(' or ')] as const,
        }),
    },
    `Available ${before.availableCredits} → ${availableCredits}, ` +
      `locked ${before.lockedCredits} → ${accountLockedCredits} credits.`,
  );
}

/**
 * What the day's sum may be after a change. A lock counts in full, and what comes back counts no
 * more. The first lock of a day begins a sum of its own, and a later day gets nothing back.
 *
 * @returns nothing where the sum before is not known
 */
function daySums(
  before: bigint | undefined,
  { availableCredits, limitDay }: Parameters<typeof judgeBalances>[2],
): bigint[] {
  if (before === undefined) return [];
  if (limitDay === 0) return [before];
  return [before - availableCredits, availableCredits < 0n ? -availableCredits : before];
}
