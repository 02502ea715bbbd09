import { Keypair } from '@solana/web3.js';
import {
  encodeEvent,
  type Fieldwise,
  fieldsOf,
  type InstructionJson,
  number,
  plus,
  set,
} from '../fields.ts';
import {
  anyEvent,
  type Change,
  eventsOf,
  inAccount,
  inEvent,
  inTransaction,
  type TransactionJson,
} from '../nodeChanges.ts';
import { type Condition, rows, type Subjects } from './condition.ts';

const STRANGER = Keypair.generate().publicKey;

function locks({ jobs: { open } }: Subjects): Condition[] {
  const terms = (change: Fieldwise) => inEvent(open, 'JobLocked', change);
  /** Its tokens cost 14.007 credits. */
  const rounded = (credits: number) =>
    terms(set({ token_limit: 2_001, credits_per_1k_tokens: 7, locked_credits: number(credits) }));
  const [holds, fails] = ['holds lock.price', 'fails lock.price'];
  return rows(open, {
    'a lock of as many tokens as the price of one request covers': [
      terms(({ token_limit, credits_per_request }) => ({
        long_completion_threshold_tokens: token_limit,
        locked_credits: number(credits_per_request),
      })),
      holds,
    ],
    'a lock of one token more than that': [
      terms(({ token_limit, credits_per_request }) => ({
        long_completion_threshold_tokens: Number(token_limit) - 1,
        credits_per_1k_tokens: 5,
        locked_credits: number(credits_per_request),
      })),
      fails,
    ],
    'a lock that is the price of one request, above that of its tokens': [
      terms(set({ credits_per_request: 50, locked_credits: number(50) })),
      holds,
    ],
    'a price that is rounded up': [rounded(15), holds],
    'a price that is rounded down': [rounded(14), fails],
    'the id of another job': [terms(set({ job_id: Array(16).fill(7) })), 'fails lock.address'],
    'the credit account of another wallet': [
      terms(set({ credit_account: STRANGER })),
      'fails lock.address',
    ],
    'another model': [terms(set({ model: STRANGER })), 'fails lock.address'],
    'an account with another token limit': [
      inAccount(open, 'Job', set({ token_limit: 1 })),
      'fails account.state',
    ],
  });
}

function balances({ jobs: { open, failed } }: Subjects): Condition[] {
  const lock = (change: Fieldwise) => inEvent(open, 'JobLocked', change);
  const [holds, fails] = ['holds lock.balances', 'fails lock.balances'];
  return [
    ...rows(open, {
      'a lock that begins a new day': [
        lock(({ locked_credits }) => ({
          ...{ limit_day: 9, spent_today_credits: number(locked_credits) },
        })),
        holds,
      ],
      'a lock that adds nothing to its day': [
        lock(({ spent_today_credits, locked_credits }) => ({
          limit_day: 9,
          spent_today_credits: number(spent_today_credits).sub(number(locked_credits)),
        })),
        fails,
      ],
      'the locked credits after a lock': [lock(plus(1, 'account_locked_credits')), fails],
      'the available credits after a lock': [lock(plus(1, 'available_credits')), fails],
    }),
    ...rows(failed, {
      'a failure that gives nothing back to its day': [
        inEvent(failed, 'JobFailed', ({ spent_today_credits, returned_credits }) => ({
          spent_today_credits: number(spent_today_credits).add(number(returned_credits)),
        })),
        'holds failure.balances',
      ],
    }),
  ];
}

/** One call more, in front of all others of the last instruction or behind them. */
function added(shown: object, call: InstructionJson, where: 'push' | 'unshift' = 'push'): void {
  (shown as TransactionJson).meta.innerInstructions.at(-1)?.instructions[where](call);
}

function work({ jobs: { alone, retried } }: Subjects): Condition[] {
  const other = (fields: object) => inEvent(alone, 'JobSettled', set({ ...fields }));
  const unlike = 'of the settlement than of the proof';
  return [
    ...rows(alone, {
      'an attempt that was not given to a worker': [
        inEvent(alone, 'JobProven', set({ attempt: 2 })),
        'fails work.assignment',
      ],
      [`other worker ${unlike}`]: [other({ worker: STRANGER }), 'fails proof.hash'],
      [`other prompt tokens ${unlike}`]: [other({ prompt_tokens: 11 }), 'fails proof.hash'],
      [`other completion tokens ${unlike}`]: [
        other({ completion_tokens: 601 }),
        'fails proof.hash',
      ],
      'the payment of the worker that settled, where another one proved': [
        inEvent(alone, 'JobProven', set({ worker: STRANGER })),
        'holds settlement.worker_payment',
      ],
    }),
    ...rows(retried, {
      'the attempt of an earlier completion, acknowledged once more': [
        inTransaction(retried, 'JobCompleted', (shown) => {
          for (const call of eventsOf(shown, 'JobCompleted', retried)) {
            const data = encodeEvent('JobCompleted', { ...fieldsOf(call), job_sequence: 4 });
            added(shown, { ...call, data });
          }
          return shown;
        }),
        'fails work.attempts',
      ],
      'a first attempt of 0': [
        inEvent(retried, 'JobAcknowledged', set({ attempt: 0 })),
        'fails work.attempts',
      ],
    }),
  ];
}

/** What came right before the first lock: the purchase, as another change of the credit account. */
function purchases({ jobs: { settled } }: Subjects): Condition[] {
  const recast = (name: string, change: Fieldwise): Change =>
    inTransaction(undefined, 'CreditBought', (shown) => {
      for (const call of eventsOf(shown, 'CreditBought')) {
        const fields = fieldsOf(call);
        call.data = encodeEvent(name, { ...fields, ...change(fields) });
      }
      return shown;
    });
  const claim = (more: number) =>
    recast('ClaimPaid', (fields) => ({
      ...{ claimant: fields.credit_account, claimant_sequence: fields.credit_sequence },
      ...{ claimant_kind: { CreditAccount: {} }, ...plus(more, 'available_credits')(fields) },
      ...Object.fromEntries(CLAIMED.map((field) => [field, number(0)])),
    }));
  const withdrawn = (locked: number) =>
    recast('CreditWithdrawn', set({ destination: STRANGER, locked_credits: number(locked) }));
  const limits = { limit_per_job_credits: number(0), limit_per_day_credits: number(0) };
  /** A second purchase of the same number, and of a credit more. */
  const twice = (in_: 'CreditBought' | 'JobLocked', where?: 'unshift'): Change => {
    return (node) =>
      inTransaction(in_ === 'JobLocked' ? settled : undefined, in_, (shown) => {
        const data = encodeEvent('CreditBought', {
          ...anyEvent(node, 'CreditBought'),
          ...plus(1, 'available_credits')(anyEvent(node, 'CreditBought') as never),
        });
        const [call] = eventsOf(shown, in_) as [InstructionJson];
        added(shown, { ...call, data }, where);
        return shown;
      })(node);
  };
  const [holds, fails] = ['holds lock.balances', 'fails lock.balances'];
  return rows(settled, {
    'two purchases of one number, the right one in front': [twice('CreditBought'), fails],
    'two purchases of one number, the right one behind': [twice('CreditBought', 'unshift'), holds],
    'a purchase of the number of another, beside the lock': [twice('JobLocked'), fails],
    'a payment before the first lock': [claim(0), holds],
    'a payment of another amount before the first lock': [claim(1), fails],
    'a withdrawal before the first lock': [withdrawn(0), holds],
    'a withdrawal that leaves locked credits, before the first lock': [withdrawn(1), fails],
    'a limit before the first lock, and no purchase': [recast('LimitSet', set(limits)), fails],
    'a purchase of another credit account before the first lock': [
      recast('CreditBought', set({ credit_account: STRANGER })),
      'not_checkable lock.balances',
    ],
  });
}

const CLAIMED = [
  ...['treasury_sequence', 'base_units', 'credits', 'remaining_base_units'],
  ...['owed_base_units', 'unpaid_base_units'],
];

/** Locks, balances, work and proofs. */
export const workConditions = [locks, balances, work, purchases];
