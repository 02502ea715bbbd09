import type { Database } from '../../common/postgres.ts';

interface GatewayRow {
  address: string;
  operator: string;
  signers: string[];
  is_stopped: boolean;
  is_vouched: boolean;
}

export async function selectGateway(
  database: Database,
  address: string,
): Promise<GatewayRow | undefined> {
  const { rows } = await database.query<GatewayRow>(
    `select address, operator, signers, stopped as is_stopped, vouched as is_vouched
     from mirror.gateways where address = $1`,
    [address],
  );
  return rows[0];
}

/** A job whose dispute awaits its verdict. */
export interface DisputeRow {
  job_id: string;
  job_address: string;
  wallet: string;
  worker_address: string | null;
  controller: string;
  settled_by: string | null;
  is_vouched: boolean;
  model: string;
  charged_credits: bigint;
  slash_tokens: bigint;
  attempt: number;
  output_hash: string | null;
  client_hash: string | null;
  disputed_by_wallet: boolean;
  disputed_at: bigint | null;
  /** The end of the dispute window. */
  judged_from: bigint | null;
  arbitration_ends_at: bigint | null;
  settlement_tx: string | null;
  dispute_tx: string | null;
}

/**
 * The open disputes, those that end first in front. Where there are more than the limit, wallets have
 * as many as each other: so none hides those of the others.
 */
export async function selectOpenDisputes(database: Database, limit: number): Promise<DisputeRow[]> {
  const { rows } = await database.query<DisputeRow>(
    `select job_id, address as job_address, wallet, worker as worker_address, controller, settled_by,
       vouched as is_vouched, model_id as model, charged_credits, slash_tokens, attempt, output_hash,
       client_hash, disputed_by_wallet, disputed_at,
       settled_at + dispute_window_seconds as judged_from, arbitration_ends_at, settlement_tx,
       dispute_tx
     from (
       select *, row_number() over (partition by wallet order by arbitration_ends_at) as place
       from mirror.jobs where status = 'disputed' order by place, arbitration_ends_at limit $1
     ) chosen
     order by arbitration_ends_at, address`,
    [limit],
  );
  return rows;
}
