import { Keypair } from '@solana/web3.js';
import {
  type ForgeryCase,
  flipByte,
  forgeEvent,
  inTransactionOf,
  lie,
  outer,
  plusOne,
  SETTLE,
  set,
} from './forge.ts';

/** Lies about a job's lock, and about what happened in which order. */
export const LOCK_FORGERIES: readonly ForgeryCase[] = [
  {
    what: 'what was locked',
    job: 'settled',
    forgery: (jobs) => forgeEvent('JobLocked', plusOne('locked_credits'), jobs.settled),
    fails: [
      'lock.price',
      'lock.balances',
      'settlement.charge',
      'settlement.balances',
      'account.state',
    ],
  },
  lie("the day's sum after the lock", 'reassigned', 'lock.balances', (jobs) =>
    forgeEvent('JobLocked', plusOne('spent_today_credits'), jobs.reassigned),
  ),
  {
    what: 'the day whose limit counts the lock',
    job: 'reassigned',
    forgery: (jobs) => forgeEvent('JobLocked', set('limit_day', 0), jobs.reassigned),
    fails: ['lock.balances', 'settlement.balances', 'account.state'],
  },
  lie('the prices', 'settled', 'lock.price account.state', (jobs) =>
    forgeEvent('JobLocked', set('credits_per_1k_tokens', 5), jobs.settled),
  ),
  lie("the treasury's basis points", 'settled', 'settlement.share account.state', (jobs) =>
    forgeEvent('JobLocked', set('treasury_share_basis_points', 1_501), jobs.settled),
  ),
  lie('whose wallet it was', 'settled', 'lock.address', () =>
    forgeEvent('JobLocked', set('wallet', Keypair.generate().publicKey)),
  ),
  lie('which model it was', 'settled', 'lock.address', () =>
    forgeEvent('JobLocked', set('model_id', 'another-model')),
  ),
  lie('the slot of an event', 'settled', 'history.sequence', () =>
    forgeEvent('JobAcknowledged', plusOne('slot')),
  ),
  {
    what: 'the order of two changes',
    job: 'settled',
    forgery: (jobs) => ({
      transaction(transaction) {
        const swap = (from: string, to: number) =>
          forgeEvent(from, set('job_sequence', to), jobs.settled).transaction?.(transaction);
        swap('JobAcknowledged', 3);
        swap('JobProven', 2);
        return transaction;
      },
    }),
    fails: ['history.sequence', 'history.states', 'account.state'],
    unchecked: ['work.assignment'],
  },
  {
    what: 'the number of a change, so that it stands twice',
    job: 'settled',
    forgery: (jobs) => forgeEvent('JobProven', set('job_sequence', 2), jobs.settled),
    fails: ['history.sequence'],
    unchecked: [
      ...['work.assignment', 'account.state', 'deadline.disputed', 'deadline.amended'],
      ...['deadline.resolved', 'deadline.expired', 'dispute.opened', 'dispute.amended'],
      ...['dispute.evidence', 'dispute.resolved', 'dispute.expired', 'account.closed'],
    ],
  },
  lie('what the controller signed', 'settled', 'history.signatures settlement.signer', () =>
    inTransactionOf('JobSettled', (transaction) => {
      outer(transaction, SETTLE).data = flipByte(outer(transaction, SETTLE).data, 10);
    }),
  ),
  lie('the signature that names a transaction', 'settled', 'history.signatures', () =>
    inTransactionOf('JobAcknowledged', ({ transaction }) => {
      transaction.signatures.reverse();
    }),
  ),
];
