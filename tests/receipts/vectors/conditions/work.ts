import anchor from '@coral-xyz/anchor';
import { Keypair, type PublicKey } from '@solana/web3.js';
import {
  type Change,
  encodeEvent,
  eventsOf,
  fieldsOf,
  inAccount,
  inEvent,
  inTransaction,
} from '../nodeChanges.ts';
import type { Condition, Subjects } from './condition.ts';

const { BN } = anchor;
const STRANGER = Keypair.generate().publicKey;

/** Locks, balances, work and proofs. */
export const workConditions = (subjects: Subjects): Condition[] => [
  ...locks(subjects),
  ...balances(subjects),
  ...work(subjects),
  ...purchases(subjects),
];

const row = (name: string, job: PublicKey, change: Change, is: Condition['is']): Condition => ({
  name,
  job,
  change,
  is,
});

function locks({ jobs: { open } }: Subjects): Condition[] {
  const terms = (change: (fields: Record<string, never>) => Record<string, unknown>) =>
    inEvent(open, 'JobLocked', change);
  /** Its tokens cost 14.007 credits. */
  const rounded = (credits: number) =>
    terms(() => ({
      ...{ token_limit: 2_001, credits_per_1k_tokens: 7 },
      locked_credits: new BN(credits),
    }));
  const price = (verdict: 'holds' | 'fails') => ({ 'lock.price': verdict }) as const;
  return [
    row(
      'a lock of as many tokens as the price of one request covers',
      open,
      terms((fields) => ({
        long_completion_threshold_tokens: fields.token_limit,
        locked_credits: new BN(Number(fields.credits_per_request)),
      })),
      price('holds'),
    ),
    row(
      'a lock of one token more than that',
      open,
      terms((fields) => ({
        long_completion_threshold_tokens: Number(fields.token_limit) - 1,
        credits_per_1k_tokens: 5,
        locked_credits: new BN(Number(fields.credits_per_request)),
      })),
      price('fails'),
    ),
    row(
      'a lock that is the price of one request, above that of its tokens',
      open,
      terms(() => ({ credits_per_request: 50, locked_credits: new BN(50) })),
      price('holds'),
    ),
    row('a price that is rounded up', open, rounded(15), price('holds')),
    row('a price that is rounded down', open, rounded(14), price('fails')),
    row(
      'the id of another job',
      open,
      terms(() => ({ job_id: Array(16).fill(7) })),
      {
        'lock.address': 'fails',
      },
    ),
    row(
      'the credit account of another wallet',
      open,
      terms(() => ({ credit_account: STRANGER })),
      {
        'lock.address': 'fails',
      },
    ),
    row(
      'another model',
      open,
      terms(() => ({ model: STRANGER })),
      { 'lock.address': 'fails' },
    ),
    row(
      'an account with another token limit',
      open,
      inAccount(open, 'Job', () => ({ token_limit: 1 })),
      {
        'account.state': 'fails',
      },
    ),
  ];
}

const DAY = 'lock.balances';

function balances({ jobs: { open, failed } }: Subjects): Condition[] {
  const lock = (change: (fields: Record<string, never>) => Record<string, unknown>) =>
    inEvent(open, 'JobLocked', change);
  return [
    row(
      'a lock that begins a new day',
      open,
      lock((fields) => ({ limit_day: 9, spent_today_credits: number(fields.locked_credits) })),
      { [DAY]: 'holds' },
    ),
    row(
      'a lock that adds nothing to its day',
      open,
      lock((fields) => ({
        limit_day: 9,
        spent_today_credits: number(fields.spent_today_credits).sub(number(fields.locked_credits)),
      })),
      { [DAY]: 'fails' },
    ),
    row(
      'a failure that gives nothing back to its day',
      failed,
      inEvent(failed, 'JobFailed', (fields) => ({
        spent_today_credits: number(fields.spent_today_credits).add(
          number(fields.returned_credits),
        ),
      })),
      { 'failure.balances': 'holds' },
    ),
    row(
      'the locked credits after a lock',
      open,
      lock((fields) => ({ account_locked_credits: number(fields.account_locked_credits).addn(1) })),
      { [DAY]: 'fails' },
    ),
    row(
      'the available credits after a lock',
      open,
      lock((fields) => ({ available_credits: number(fields.available_credits).addn(1) })),
      { [DAY]: 'fails' },
    ),
  ];
}

function work({ jobs: { alone, retried } }: Subjects): Condition[] {
  const proven = (change: Record<string, unknown>) => inEvent(alone, 'JobProven', () => change);
  return [
    row('an attempt that was not given to a worker', alone, proven({ attempt: 2 }), {
      'work.assignment': 'fails',
    }),
    ...Object.entries({
      worker: { worker: STRANGER },
      'prompt tokens': { prompt_tokens: 11 },
      'completion tokens': { completion_tokens: 601 },
    }).map(([what, change]) =>
      row(
        `other ${what} of the settlement than of the proof`,
        alone,
        inEvent(alone, 'JobSettled', () => change),
        {
          'proof.hash': 'fails',
        },
      ),
    ),
    row(
      'a first attempt of 0',
      retried,
      inEvent(retried, 'JobAcknowledged', () => ({ attempt: 0 })),
      { 'work.attempts': 'fails' },
    ),
  ];
}

/** What came right before the first lock: the purchase, as another change of the credit account. */
function purchases({ jobs: { settled } }: Subjects): Condition[] {
  const recast = (name: string, change: (fields: Record<string, never>) => object): Change =>
    inTransaction(undefined, 'CreditBought', (shown) => {
      for (const call of eventsOf(shown, 'CreditBought')) {
        const fields = fieldsOf(call);
        call.data = encodeEvent(name, { ...fields, ...change(fields) });
      }
      return shown;
    });
  const claim = (by: number) =>
    recast('ClaimPaid', (fields) => ({
      ...{ claimant: fields.credit_account, claimant_sequence: fields.credit_sequence },
      ...{ claimant_kind: { CreditAccount: {} }, available_credits: plus(fields, by) },
      ...Object.fromEntries(CLAIMED.map((field) => [field, new BN(0)])),
    }));
  const withdrawn = (locked: number) =>
    recast('CreditWithdrawn', () => ({ destination: STRANGER, locked_credits: new BN(locked) }));
  const limit = recast('LimitSet', () => ({
    ...{ limit_per_job_credits: new BN(0), limit_per_day_credits: new BN(0) },
  }));
  const plus = (fields: Record<string, never>, by: number) =>
    number(fields.available_credits).addn(by);
  const list: [string, Change, 'holds' | 'fails' | 'not_checkable'][] = [
    ['a payment before the first lock', claim(0), 'holds'],
    ['a payment of another amount before the first lock', claim(1), 'fails'],
    ['a withdrawal before the first lock', withdrawn(0), 'holds'],
    ['a withdrawal that leaves locked credits, before the first lock', withdrawn(1), 'fails'],
    ['a limit before the first lock, and no purchase', limit, 'fails'],
    [
      'a purchase of another credit account before the first lock',
      recast('CreditBought', () => ({ credit_account: STRANGER })),
      'not_checkable',
    ],
  ];
  return list.map(([name, change, verdict]) => row(name, settled, change, { [DAY]: verdict }));
}

const CLAIMED = [
  ...['treasury_sequence', 'base_units', 'credits', 'remaining_base_units'],
  ...['owed_base_units', 'unpaid_base_units'],
];
const number = (value: unknown) => value as anchor.BN;
