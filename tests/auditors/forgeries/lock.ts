import { Keypair } from '@solana/web3.js';
import {
  type ForgeryCase,
  flipByte,
  forgeEvent,
  inTransactionOf,
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
  {
    what: "the day's sum after the lock",
    job: 'reassigned',
    forgery: (jobs) => forgeEvent('JobLocked', plusOne('spent_today_credits'), jobs.reassigned),
    fails: ['lock.balances'],
  },
  {
    what: 'the day whose limit counts the lock',
    job: 'reassigned',
    forgery: (jobs) => forgeEvent('JobLocked', set('limit_day', 0), jobs.reassigned),
    fails: ['lock.balances', 'settlement.balances', 'account.state'],
  },
  {
    what: 'the prices',
    job: 'settled',
    forgery: (jobs) => forgeEvent('JobLocked', set('credits_per_1k_tokens', 5), jobs.settled),
    fails: ['lock.price', 'account.state'],
  },
  {
    what: "the treasury's basis points",
    job: 'settled',
    forgery: (jobs) =>
      forgeEvent('JobLocked', set('treasury_share_basis_points', 1_501), jobs.settled),
    fails: ['settlement.share', 'account.state'],
  },
  {
    what: 'whose wallet it was',
    job: 'settled',
    forgery: () => forgeEvent('JobLocked', set('wallet', Keypair.generate().publicKey)),
    fails: ['lock.address'],
  },
  {
    what: 'which model it was',
    job: 'settled',
    forgery: () => forgeEvent('JobLocked', set('model_id', 'another-model')),
    fails: ['lock.address'],
  },
  {
    what: 'the slot of an event',
    job: 'settled',
    forgery: () => forgeEvent('JobAcknowledged', plusOne('slot')),
    fails: ['history.sequence'],
  },
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
      ...[
        'work.assignment',
        'account.state',
        'deadline.disputed',
        'deadline.amended',
        'deadline.resolved',
        'deadline.expired',
      ],
      ...['dispute.opened', 'dispute.amended', 'dispute.evidence', 'dispute.resolved'],
      ...['dispute.expired', 'account.closed'],
    ],
  },
  {
    what: 'what the controller signed',
    job: 'settled',
    forgery: () =>
      inTransactionOf('JobSettled', (transaction) => {
        outer(transaction, SETTLE).data = flipByte(outer(transaction, SETTLE).data, 10);
      }),
    fails: ['history.signatures', 'settlement.signer'],
  },
  {
    what: 'the signature that names a transaction',
    job: 'settled',
    forgery: () =>
      inTransactionOf('JobAcknowledged', ({ transaction }) => {
        transaction.signatures.reverse();
      }),
    fails: ['history.signatures'],
  },
];
