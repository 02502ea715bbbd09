import type { Database } from '../common/postgres.ts';
import type { DisputeOutcome } from '../programs/client/vocabulary.ts';

/** A job that was disputed, as the mirror has it. Times in seconds of the ledger, hashes in hex. */
export interface DisputeRow {
  readonly address: string;
  readonly job_id: string;
  readonly wallet: string;
  readonly credit_account: string;
  readonly worker: string;
  readonly controller: string;
  /** Whether a Gateway made the charge; else the wallet itself did. */
  readonly is_of_gateway: boolean;
  readonly model_id: string;
  readonly charged_credits: bigint;
  readonly client_hash: string;
  readonly output_hash: string;
  readonly disputed_at: bigint;
  readonly arbitration_ends_at: bigint;
  readonly dispute_tx: string;
  /** Null while the dispute is open. */
  readonly outcome: DisputeOutcome | null;
  readonly resolved_at: bigint | null;
  readonly resolution_tx: string | null;
  /** The sha256 of what the arbiter decided on. */
  readonly evidence_hash: string | null;
}

/**
 * Disputes that are open, the most urgent first; behind them, where `decided` ones are wanted too,
 * those, newest first.
 */
export async function selectDisputes(
  database: Database,
  { decided, limit }: { decided: boolean; limit: number },
): Promise<DisputeRow[]> {
  const { rows } = await database.query<DisputeRow>(
    `select job.address, job_id, wallet, credit_account, worker, controller,
       gateway.address is not null as is_of_gateway, model_id, charged_credits, client_hash,
       output_hash, disputed_at, arbitration_ends_at, dispute_tx, outcome, resolved_at,
       resolution_tx, (
         select data ->> 'evidenceHash' from mirror.journal
         where signature = resolution_tx and event_name = 'DisputeResolved'
           and data ->> 'job' = job.address
       ) as evidence_hash
     from mirror.jobs job
     left join mirror.gateways gateway on gateway.address = controller
     where status = 'disputed' ${decided ? 'or outcome is not null' : ''}
     order by outcome is not null, case when outcome is null then arbitration_ends_at end,
       resolved_at desc, job.address
     limit $1`,
    [limit],
  );
  return rows;
}

/**
 * The ledger's time of the newest that the mirror tells of its jobs, in seconds; the ledger has
 * gone on since. Null where it has none.
 */
export async function selectNewestTime(database: Database): Promise<bigint | null> {
  // Each has an index; the journal, which knows best, has none by time.
  const { rows } = await database.query<{ newest: bigint | null }>(
    `select greatest(
       (select max(locked_at) from mirror.jobs where status in ('pending', 'processing', 'settling')),
       (select max(ended_at) from mirror.jobs
        where status in ('settled', 'failed', 'refunded') and not closed),
       (select max(disputed_at) from mirror.jobs where status = 'disputed')
     ) as newest`,
  );
  return rows[0]?.newest ?? null;
}
