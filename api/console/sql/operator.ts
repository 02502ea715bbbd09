import type { Database } from '../../../common/postgres.ts';
import type { Tier } from '../../../programs/client/generated/vocabulary.ts';
import type { KeyStatus } from '../../sql/accounts.ts';

/** A key that was ever made; never the key itself. */
interface KeyRow {
  /** Microseconds since 1970 at its creation: the order of the list. */
  place: bigint;
  wallet: string;
  status: KeyStatus;
  created_at: Date;
  suspended_at: Date | null;
  suspended_by: 'operator' | 'indexer' | null;
  suspension_reason: string | null;
}

/** Newest first. @param filter.before only keys made before this place */
export async function selectKeys(
  database: Database,
  filter: {
    status: KeyStatus | undefined;
    wallet: string | undefined;
    before: bigint | undefined;
    limit: number;
  },
): Promise<KeyRow[]> {
  const { rows } = await database.query<KeyRow>(
    `select (extract(epoch from key.created_at) * 1000000)::bigint as place, key.wallet, key.status,
       key.created_at, suspension.suspended_at, suspension.suspended_by,
       suspension.reason as suspension_reason
     from service.api_keys key
     left join service.key_suspensions suspension
       on suspension.key_sha256 = key.key_sha256
       and key.status = 'suspended' and suspension.lifted_at is null
     where ($1::text is null or key.status = $1) and ($2::text is null or key.wallet = $2)
       and ($3::bigint is null or extract(epoch from key.created_at) * 1000000 < $3)
     order by key.created_at desc limit $4`,
    [filter.status ?? null, filter.wallet ?? null, filter.before ?? null, filter.limit],
  );
  return rows;
}

/** A gateway as the mirror has it. */
interface GatewayRow {
  address: string;
  operator: string;
  signers: string[];
  stopped: boolean;
  vouched: boolean;
}

export async function selectGateway(
  database: Database,
  address: string,
): Promise<GatewayRow | undefined> {
  const { rows } = await database.query<GatewayRow>(
    'select address, operator, signers, stopped, vouched from mirror.gateways where address = $1',
    [address],
  );
  return rows[0];
}

/** A job whose dispute awaits its verdict. */
export interface DisputeRow {
  job_id: string;
  address: string;
  wallet: string;
  worker: string | null;
  controller: string;
  settled_by: string | null;
  vouched: boolean;
  model_id: string;
  tier: Tier;
  charged_credits: bigint;
  slash_tokens: bigint;
  attempt: number;
  output_hash: string | null;
  client_hash: string | null;
  disputed_by_wallet: boolean;
  disputed_at: bigint | null;
  settled_at: bigint | null;
  dispute_window_seconds: number;
  arbitration_ends_at: bigint | null;
  settlement_tx: string | null;
  dispute_tx: string | null;
}

/** Those that end first, first. */
export async function selectOpenDisputes(database: Database, limit: number): Promise<DisputeRow[]> {
  const { rows } = await database.query<DisputeRow>(
    `select job_id, address, wallet, worker, controller, settled_by, vouched, model_id, tier,
       charged_credits, slash_tokens, attempt, output_hash, client_hash, disputed_by_wallet,
       disputed_at, settled_at, dispute_window_seconds, arbitration_ends_at, settlement_tx,
       dispute_tx
     from mirror.jobs where status = 'disputed'
     order by arbitration_ends_at, address limit $1`,
    [limit],
  );
  return rows;
}
