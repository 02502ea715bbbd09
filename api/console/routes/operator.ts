import type pg from 'pg';
import { creditsNumber, isoTime, sha256Text } from '../../../common/format.ts';
import { listKeys } from '../../account/keys.ts';
import { reinstateWallet, suspendWallet } from '../../account/suspensions.ts';
import { parseRequest } from '../../contracts/values.ts';
import { selectModels } from '../../sql/workers.ts';
import {
  type DisputeList,
  type KeyList,
  type LedgerRules,
  type operatorRoutes,
  suspendedWallet,
} from '../contracts/operator.ts';
import type { Call, Handlers } from '../http/serveRoutes.ts';
import { type DisputeRow, selectGateway, selectOpenDisputes } from '../sql/operator.ts';
import { timeOrNull } from '../views/jobView.ts';
import { requireRules } from './account.ts';
import { asApiError } from './settings.ts';

const DISPUTES_MAX = 500;

interface OperatorServices {
  pool: pg.Pool;
  gateway: string;
  nowSeconds: () => bigint;
}

/**
 * What operators and the arbiter see and decide. Only signed transactions change the ledger; the pages
 * build those.
 */
export function operatorHandlers(services: OperatorServices): Handlers<typeof operatorRoutes> {
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
  const rows = await listKeys(pool, {
    ...(status && { status }),
    ...(wallet !== undefined && { wallet }),
    ...(before !== undefined && { before }),
    limit: limit + 1,
  });
  const page = rows.slice(0, limit);
  const has_more = rows.length > page.length;
  return {
    object: 'list',
    data: page.map(({ place: _, created_at, suspended_at, ...key }) => ({
      ...key,
      created_at: created_at?.toISOString() ?? null,
      suspended_at: suspended_at?.toISOString() ?? null,
    })),
    has_more,
    next_cursor: has_more ? String(page.at(-1)?.place) : null,
  };
}

/** The ledger's settings of the program, our gateway and the models. */
async function readLedgerRules(pool: pg.Pool, gateway: string): Promise<LedgerRules> {
  const [rules, own, models] = await Promise.all([
    requireRules(pool),
    selectGateway(pool, gateway),
    selectModels(pool),
  ]);
  return {
    authority: rules.authority,
    pending_authority: rules.pending_authority,
    arbiter: rules.arbiter,
    deposits_paused: rules.deposits_paused,
    locks_paused: rules.locks_paused,
    gateway: own
      ? {
          address: own.address,
          operator: own.operator,
          signers: own.signers,
          is_stopped: own.stopped,
          is_vouched: own.vouched,
        }
      : null,
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
      retires_at: timeOrNull(model.retires_at),
      card_hash: model.card_hash && sha256Text(model.card_hash),
    })),
  };
}

function disputeView(row: DisputeRow): DisputeList['data'][number] {
  const { settled_at, dispute_window_seconds } = row;
  return {
    job_id: row.job_id,
    job_address: row.address,
    wallet: row.wallet,
    worker_address: row.worker,
    controller: row.controller,
    settled_by: row.settled_by,
    is_vouched: row.vouched,
    model: row.model_id,
    credits_charged: creditsNumber(row.charged_credits),
    slash_tokens: String(row.slash_tokens),
    attempt: row.attempt,
    proof_hash: row.output_hash && sha256Text(row.output_hash),
    your_hash: row.client_hash && sha256Text(row.client_hash),
    disputed_by_wallet: row.disputed_by_wallet,
    disputed_at: timeOrNull(row.disputed_at),
    judged_from: settled_at === null ? null : isoTime(settled_at + BigInt(dispute_window_seconds)),
    arbitration_ends_at: timeOrNull(row.arbitration_ends_at),
    settlement_tx: row.settlement_tx,
    dispute_tx: row.dispute_tx,
  };
}
