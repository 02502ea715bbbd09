import { base58 } from '@scure/base';
import type { PublicKey } from '@solana/web3.js';
import type { JobStatus } from '../../generated/vocabulary.ts';

import { verifySignature } from '../../proof.ts';
import { fails, holds, notCheckable } from '../check.ts';
import type { LedgerTransaction } from './evidence.ts';
import {
  changingTransactions,
  findLookalikes,
  isPossible,
  type JobEvent,
  type JobEventName,
  type JobRecord,
  statusAfter,
} from './record.ts';
import { historyRule, NODE_SAYS_WHO_SIGNED } from './rule.ts';

/**
 * Events that anybody can cause. A lying node can sign such a transaction with a key of its own, so
 * the sender's signature proves nothing.
 */
const OPEN_TO_ANYBODY: readonly JobEventName[] = [
  'JobProven',
  'JobRefunded',
  'DisputeExpired',
  'JobClosed',
];

/** A node cannot make up or alter what the signers of a transaction asked for. */
export const signatures = historyRule('history.signatures', (record) => {
  const transactions = changingTransactions(record);
  const unsigned = transactions.filter((transaction) => !isSigned(transaction));
  if (unsigned.length > 0) return fails(`Not what its signers signed: ${namesOf(unsigned)}.`);
  const unknown = transactions.filter(({ message }) => message === undefined);
  const byRole = unknown.filter((one) =>
    record.events.some(
      ({ name, transaction }) => transaction === one && !OPEN_TO_ANYBODY.includes(name),
    ),
  );
  if (byRole.length > 0) return notCheckable(`${NODE_SAYS_WHO_SIGNED}: ${namesOf(byRole)}.`);
  const signed = `All signers signed what is shown. Transactions: ${transactions.length - unknown.length}.`;
  const others = ` By anybody, in a version whose signed bytes are not known: ${unknown.length}.`;
  return holds(unknown.length > 0 ? signed + others : signed);
});

const namesOf = (transactions: readonly LedgerTransaction[]): string =>
  transactions.map(({ signature }) => signature).join(', ');

/** Where the signed bytes are not known, this is so of the name alone. */
function isSigned({ signature, signatures, signers, message }: LedgerTransaction): boolean {
  const [first] = signatures;
  if (first === undefined || base58.encode(first) !== signature) return false;
  return (
    message === undefined ||
    (signatures.length === signers.length &&
      signatures.every((one, index) =>
        verifySignature({ publicKey: signers[index] as PublicKey, message, signature: one }),
      ))
  );
}

/** All else is read from events, so these must be the program's own, and no others. */
export const authenticity = historyRule('history.authenticity', (record) => {
  const { events, transactions, isComplete, job } = record;
  const known = new Set(events.map(({ data }) => data.jobSequence));
  const lookalikes = transactions.flatMap((transaction) => findLookalikes(transaction, job));
  // Strangers may imitate events as they like: that matters only where the real one is missing.
  const substitutes = isComplete ? [] : lookalikes.filter(({ sequence }) => !known.has(sequence));
  if (substitutes.length > 0) {
    const named = substitutes.map(({ name, writer }) => `${name} was written by ${writer}`);
    return fails(`${named.join('; ')}, not by the program itself.`);
  }
  const ignored = lookalikes.length > 0 ? ` Ignored imitations: ${lookalikes.length}.` : '';
  return holds(`The program's event authority signed them. Events: ${events.length}.${ignored}`);
});

/** The lock first, then every change in the order in which the ledger executed it, none missing. */
export const sequence = historyRule('history.sequence', (record) => {
  const { events, unread, isComplete } = record;
  const falls = createFalls();
  const misplaced = events.filter(
    (event, index) => falls(event) || !follows(event, events[index - 1]),
  );
  if (misplaced.length > 0) {
    const named = misplaced.map(({ name, data }) => `${name} (${data.jobSequence})`);
    return fails(`Out of place on the ledger: ${named.join(', ')}.`);
  }
  const reasons = [...new Set(unread.map(({ reason }) => ` ${reason}.`))].join('');
  if (!isComplete) return notCheckable(`${describeGap(record)}${reasons}`);
  const ignored =
    unread.length > 0 ? ` Unread, but without effect on the job: ${unread.length}.` : '';
  return holds(`${events.map(({ name }) => name).join(', ')}; none is missing.${ignored}`);
});

/** What only grows: the ledger's Clock, and how often an account was changed. */
const NEVER_FALL = ['unixTime', 'creditSequence', 'workerSequence', 'treasurySequence'];

/** Whether an event says less of something than the last one before it that has it. */
function createFalls(): (event: JobEvent) => boolean {
  const last = new Map<string, bigint>();
  return ({ data }) => {
    const said = Object.entries(data).filter(([field]) => NEVER_FALL.includes(field));
    const isFallen = said.some(([field, amount]) => amount < (last.get(field) ?? amount));
    for (const [field, amount] of said) last.set(field, amount as bigint);
    return isFallen;
  };
}

function follows(event: JobEvent, previous: JobEvent | undefined): boolean {
  if (event.data.slot !== event.transaction.slot) return false;
  if (previous === undefined) return event.data.jobSequence > 1 || event.name === 'JobLocked';
  if (previous.data.jobSequence === event.data.jobSequence) return false;
  if (previous.transaction !== event.transaction) {
    return previous.transaction.slot <= event.transaction.slot;
  }
  return previous.instructionIndex === event.instructionIndex
    ? previous.innerIndex < event.innerIndex
    : previous.instructionIndex < event.instructionIndex;
}

function describeGap({ events, account }: JobRecord): string {
  const last = events.at(-1)?.data.jobSequence ?? 0;
  if (account.kind === 'job' && account.data.sequence < last) {
    return 'The node shows an older state of the account than of its history.';
  }
  const end = account.kind === 'job' ? Math.max(account.data.sequence, last) : last;
  const known = new Set(events.map(({ data }) => data.jobSequence));
  const missing = Array.from({ length: end }, (_item, index) => index + 1).filter(
    (number) => !known.has(number),
  );
  return missing.length > 0
    ? `Of ${end} changes the node does not show number ${missing.join(', ')}.`
    : 'The node shows neither the account nor what closed it.';
}

/** Each change was possible in the state that the one before it left. */
export const states = historyRule('history.states', ({ events, isComplete }) => {
  const path: JobStatus[] = [];
  let wasDisputed = false;
  for (const event of events) {
    const { name } = event;
    if (!isPossible(name, path.at(-1)) || (wasDisputed && name === 'JobDisputed')) {
      return isComplete
        ? fails(`${name} is not possible after ${path.join(' → ') || 'nothing'}.`)
        : notCheckable('What came between the events that the node shows is not known.');
    }
    wasDisputed ||= name === 'JobDisputed';
    path.push(statusAfter(event, path.at(-1)));
  }
  return holds(`${path.filter((status, index) => status !== path[index - 1]).join(' → ')}.`);
});
