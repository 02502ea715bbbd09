import { z } from 'zod';
import { route } from './route.ts';
import {
  amountText,
  count,
  credits,
  jobId,
  ledgerAddress,
  pageLimit,
  pageOf,
  slot,
  time,
  timeNullable,
  transactionSignature,
  usdc,
} from './values.ts';

const limit = credits.nullable().describe('Null without a limit.');

/** The balance that a key spends from. */
export const accountObject = z.object({
  wallet: ledgerAddress.describe('The wallet that owns the key.'),
  credits_remaining: credits.describe('Credits available; those locked for jobs are not in it.'),
  usdc_value: usdc.describe('The same in stablecoin units.'),
  last_topup_at: time.nullable().describe('Null before the first purchase.'),
  api_key_created_at: time,
  charged_today_credits: credits.describe(
    'Our choice: what was charged of the locks since midnight UTC. `limits.per_day_credits` bounds ' +
      'it with what is locked of them. What a dispute repays stays in it.',
  ),
  locked_now_credits: credits.describe('Our choice: what running jobs hold.'),
  limits: z
    .object({ per_job_credits: limit, per_day_credits: limit })
    .describe('Our choice: what the wallet lets this service lock.'),
});

export type AccountObject = z.infer<typeof accountObject>;

const limitText = amountText.nullable().describe('Credits; null where the wallet stated none.');

const consoleAccount = z.object({
  wallet: ledgerAddress,
  address: ledgerAddress.describe('Of the credit account, also before it is opened.'),
  is_open: z.boolean().describe('Whether the account is on the ledger.'),
  available_credits: credits,
  locked_credits: credits.describe('In running jobs.'),
  charged_today_credits: credits.describe(
    'Of what the spender locked since midnight UTC. The limit per day counts it with what is locked of that.',
  ),
  owed_credits: credits.describe('Of upheld disputes, not repaid yet.'),
  usdc_value: usdc.describe('Of the available credits.'),
  spender: z
    .object({
      address: ledgerAddress,
      is_service: z.boolean().describe('Whether it is the gateway of this service.'),
      limit_per_job_credits: limitText,
      limit_per_day_credits: limitText,
    })
    .nullable(),
  open_disputes: count,
  opened_at: timeNullable,
  last_topup_at: timeNullable,
  sequence: amountText.describe("Counts the account's changes."),
  rules: z
    .object({
      deposits_paused: z.boolean(),
      locks_paused: z.boolean(),
      job_credits_max: credits,
      account_credits_max: credits.describe('The most credits that an account may hold.'),
      credit_mint: ledgerAddress,
      vault: ledgerAddress,
    })
    .describe('What the program allows everybody at present.'),
});

export type ConsoleAccount = z.infer<typeof consoleAccount>;

/** One change of the account, by its event. */
const accountChange = z.object({
  sequence: amountText,
  event: z.string().describe('The name of the event, such as `JobCompleted`.'),
  at: time.describe('By the ledger.'),
  charged_credits: credits
    .nullable()
    .describe('Of the job that it ended, whose lock is then no change of its own; null of others.'),
  available_change_credits: z.int().describe('With the lock of the job that it ended.'),
  locked_change_credits: z.int(),
  available_credits: credits
    .nullable()
    .describe('After the change; null where its event has none.'),
  locked_credits: credits.nullable(),
  job_id: jobId.nullable(),
  tx: transactionSignature,
  slot,
});

const accountHistory = pageOf(accountChange);

export type AccountHistory = z.infer<typeof accountHistory>;

const historyQuery = z.object({
  limit: pageLimit(50),
  before: amountText.transform(BigInt).optional().describe('Changes before this sequence.'),
});

export const accountRoutes = {
  getAccount: route('GET', '/account', ['key', 'session'], {
    summary: 'credits, limits and spender',
    answer: accountObject,
    pageAnswer: consoleAccount,
    docs: {
      tag: 'Account',
      summary: 'Show the balance',
      description: 'The credits of the wallet that the key belongs to.',
    },
  }),
  getHistory: route('GET', '/account/history', ['session'], {
    summary: 'every change of the account, one for each job that has ended, newest first',
    query: historyQuery,
    answer: accountHistory,
  }),
};
