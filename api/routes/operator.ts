import type pg from 'pg';
import { creditsNumber, isoTime, isoTimeOrNull, sha256Text } from '../../common/format.ts';
import { listKeys } from '../account/keys.ts';
import { asApiError } from '../account/refusals.ts';
import { reinstateWallet, suspendWallet } from '../account/suspensions.ts';
import {
  type DisputeList,
  type KeyList,
  type LedgerRules,
  type operatorRoutes,
  suspendedWallet,
} from '../contracts/operator.ts';
import { parseRequest } from '../contracts/values.ts';
import { type DisputeRow, selectGateway, selectOpenDisputes } from '../sql/operator.ts';
import { selectModels } from '../sql/workers.ts';
import { pageOf } from '../views/page.ts';
import { requireRules } from './account.ts';
import type { Call, Handlers } from './serveRoutes.ts';

const DISPUTES_MAX = 500;

/**
 * What operators and the arbiter see and decide. Only signed transactions change the ledger; the pages
 * build those.
 */
export function operatorHandlers(services: {
  pool: pg.Pool;
  gateway: string;
  nowSeconds: () => bigint;
}): Handlers<typeof operatorRoutes> {
  const { pool, gateway, nowSeconds } = services;
  return {
    getKeys: ({ query }) => listKeyPage(pool, query),
    async suspendKey({ params, body: { reason } }) {
      const { wallet } = parseRequest(suspendedWallet, params);
      await asApiError(suspendWallet(pool, wallet, reason));
      return { done: true };
    },
    async reinstateKey({ params: { wallet } }) {
      await asApiError(reinstateWallet(pool, wallet));
      return { done: true };
    },
    getLedgerRules: () => readLedgerRules(pool, gateway),
    async getDisputes() {
      const rows = await selectOpenDisputes(pool, DISPUTES_MAX);
      return { object: 'list', data: rows.map(disputeView), ledger_time: isoTime(nowSeconds()) };
    },
  };
}

/** One page of the wallets' keys, newest first. */
async function listKeyPage(
  pool: pg.Pool,
  { limit, before, status, wallet }: Call<(typeof operatorRoutes)['getKeys']>['query'],
): Promise<KeyList> {
  const rows = await listKeys(pool, { status, wallet, before, limit: limit + 1 });
  const { page, ...more } = pageOf(rows, limit, (key) => String(key.place));
  return {
    object: 'list',
    data: page.map(({ place: _, created_at, suspended_at, ...key }) => ({
      ...key,
      created_at: created_at?.toISOString() ?? null,
      suspended_at: suspended_at?.toISOString() ?? null,
    })),
    ...more,
  };
}

/** The ledger's settings of the program, our gateway and the models. */
async function readLedgerRules(pool: pg.Pool, gateway: string): Promise<LedgerRules> {
  const [rules, own, models] = await Promise.all([
    requireRules(pool),
    selectGateway(pool, gateway),
    selectModels(pool),
  ]);
  const { authority, pending_authority, arbiter, deposits_paused, locks_paused } = rules;
  return {
    authority,
    pending_authority,
    arbiter,
    deposits_paused,
    locks_paused,
    gateway: own ?? null,
    models: models.map((model) => ({
      address: model.address,
      id: model.id,
      tier: model.tier,
      label: model.label,
      originator: model.originator,
      context_window: model.context_window_tokens,
      credits_per_request: model.credits_per_request,
      credits_per_1k_tokens: model.credits_per_1k_tokens,
      long_completion_threshold: model.long_completion_threshold_tokens,
      retires_at: isoTimeOrNull(model.retires_at),
      card_hash: model.card_hash && sha256Text(model.card_hash),
    })),
  };
}

function disputeView(row: DisputeRow): DisputeList['data'][number] {
  const { charged_credits, output_hash, client_hash, judged_from, ...shown } = row;
  return {
    ...shown,
    credits_charged: creditsNumber(charged_credits),
    slash_tokens: String(row.slash_tokens),
    proof_hash: output_hash && sha256Text(output_hash),
    your_hash: client_hash && sha256Text(client_hash),
    disputed_at: isoTimeOrNull(row.disputed_at),
    judged_from: isoTimeOrNull(judged_from),
    arbitration_ends_at: isoTimeOrNull(row.arbitration_ends_at),
  };
}
