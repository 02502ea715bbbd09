import { z } from 'zod';
import { TIERS } from '../../programs/client/generated/vocabulary.ts';
import { route } from './route.ts';
import {
  amountText,
  bodyOf,
  count,
  credits,
  done,
  jobId,
  ledgerAddress,
  listOf,
  pageLimit,
  pageOf,
  rowId,
  sha256Hash,
  textOfLength,
  time,
  timeNullable,
  tokens,
  transactionSignature,
  walletAddress,
} from './values.ts';

const KEY_STATUSES = ['active', 'suspended', 'revoked'] as const;

const keyRecord = z.object({
  wallet: ledgerAddress,
  status: z.enum(KEY_STATUSES),
  created_at: timeNullable.describe('Null of a wallet that is suspended and has no live key.'),
  suspended_at: timeNullable,
  suspended_by: z.enum(['operator', 'indexer']).nullable(),
  suspension_reason: z.string().nullable(),
});

const keyList = pageOf(keyRecord);

export type KeyList = z.infer<typeof keyList>;

const keyQuery = z.object({
  limit: pageLimit(50),
  before: rowId.optional(),
  status: z.enum(KEY_STATUSES, { error: 'must be a key status' }).optional(),
  wallet: z.string({ error: 'must be given once' }).optional(),
});

export const suspendedWallet = z.object({ wallet: walletAddress });

const suspension = bodyOf({
  reason: textOfLength(1, 500).describe('For the list of keys; its owner sees it.'),
});

/** Settings on the ledger. Only signed transactions change them, which the pages build. */
const ledgerRules = z.object({
  authority: ledgerAddress,
  pending_authority: ledgerAddress.nullable(),
  arbiter: ledgerAddress,
  deposits_paused: z.boolean(),
  locks_paused: z.boolean(),
  gateway: z
    .object({
      address: ledgerAddress,
      operator: ledgerAddress,
      signers: z.array(ledgerAddress),
      is_stopped: z.boolean(),
      is_vouched: z.boolean(),
    })
    .nullable(),
  models: z.array(
    z.object({
      address: ledgerAddress,
      id: z.string(),
      tier: z.enum(TIERS),
      label: z.string(),
      originator: z.string(),
      context_window: tokens,
      credits_per_request: credits,
      credits_per_1k_tokens: credits,
      long_completion_threshold: tokens,
      retires_at: timeNullable,
      card_hash: sha256Hash.nullable().describe('Null where no card is pinned.'),
    }),
  ),
});

export type LedgerRules = z.infer<typeof ledgerRules>;

const openDispute = z.object({
  job_id: jobId,
  job_address: ledgerAddress,
  wallet: ledgerAddress,
  worker_address: ledgerAddress.nullable(),
  controller: ledgerAddress,
  settled_by: ledgerAddress.nullable(),
  is_vouched: z.boolean(),
  model: z.string(),
  credits_charged: credits,
  slash_tokens: amountText,
  attempt: count,
  proof_hash: sha256Hash.nullable(),
  your_hash: sha256Hash.nullable().describe("The client's."),
  disputed_by_wallet: z.boolean(),
  disputed_at: timeNullable,
  judged_from: timeNullable.describe('The end of the dispute window: no verdict before it.'),
  arbitration_ends_at: timeNullable,
  settlement_tx: transactionSignature.nullable(),
  dispute_tx: transactionSignature.nullable(),
});

const disputeList = listOf(
  openDispute,
  'Those that end first, first; at most 500, in equal parts of each wallet.',
).extend({
  ledger_time: time,
});

export type DisputeList = z.infer<typeof disputeList>;

export const operatorRoutes = {
  getKeys: route('GET', '/operator/keys', ['operator'], {
    summary: 'live, suspended and lately revoked keys, newest first',
    query: keyQuery,
    answer: keyList,
  }),
  suspendKey: route('POST', '/operator/keys/:wallet/suspend', ['operator'], {
    summary: "refuse a wallet's keys, also later ones, until it is reinstated",
    body: suspension,
    answer: done,
  }),
  reinstateKey: route('POST', '/operator/keys/:wallet/reinstate', ['operator'], {
    summary: 'end a suspension and forgive its cause',
    answer: done,
  }),
  getLedgerRules: route('GET', '/operator/ledger', ['session'], {
    summary: 'pauses, models and gateway as they are on the ledger',
    answer: ledgerRules,
  }),
  getDisputes: route('GET', '/arbiter/disputes', ['arbiter'], {
    summary: 'open disputes by urgency',
    answer: disputeList,
  }),
};
