import type { Database } from '../../common/postgres.ts';
import type { WorkerStatus } from '../../programs/client/generated/vocabulary.ts';

/** The use of a model by all wallets in the last 24 hours of the ledger. */
interface ModelDayRow {
  model_id: string;
  jobs: bigint;
  settled: bigint;
  charged_credits: bigint;
}

export async function selectModelDay(
  database: Database,
  sinceSeconds: bigint,
): Promise<ModelDayRow[]> {
  const { rows } = await database.query<ModelDayRow>(
    `select model_id, sum(jobs) as jobs, sum(settled) as settled,
       sum(charged_credits) as charged_credits
     from mirror.usage_hours where hour >= $1::bigint - $1::bigint % 3600 group by model_id`,
    [sinceSeconds],
  );
  return rows;
}

/** First tokens by class, added up; see `percentileOf`. */
export interface ClassesRow {
  name: string;
  first_tokens: bigint;
  failures: bigint;
  classes: number[];
}

const SUMMED = `
  sum(first_tokens) as first_tokens, sum(failures) as failures,
  array(
    select sum(count)::integer from unnest(array_agg(first_token_classes)) with ordinality
      as class (count, place)
    group by (place - 1) % 80 order by (place - 1) % 80
  ) as classes`;

/** First tokens of the last 24 hours, by model or by worker. @param modelId of this model alone */
export async function selectClasses(
  database: Database,
  by: 'model_id' | 'worker',
  modelId?: string,
): Promise<Map<string, ClassesRow>> {
  const { rows } = await database.query<ClassesRow>(
    `select ${by} as name, ${SUMMED} from service.worker_hours
     where hour > now() - interval '24 hours' and ($1::text is null or model_id = $1)
     group by ${by}`,
    [modelId ?? null],
  );
  return new Map(rows.map((row) => [row.name, row]));
}

/** Probes of the last 24 hours by worker. */
export async function selectProbes(
  database: Database,
): Promise<Map<string, { probes: bigint; answered: bigint }>> {
  const { rows } = await database.query<{ worker: string; probes: bigint; answered: bigint }>(
    `select worker, sum(probes) as probes, sum(answered) as answered from service.worker_probes
     where hour > now() - interval '24 hours' group by worker`,
  );
  return new Map(rows.map(({ worker, ...counts }) => [worker, counts]));
}

export interface RegisteredRow {
  address: string;
  authority: string;
  proof_key: string;
  payout: string;
  endpoint: string;
  status: WorkerStatus;
  stake_tokens: bigint;
  unstaking_tokens: bigint;
  unstake_ready_at: bigint | null;
  jobs_settled: bigint;
  registered_at: bigint;
  models: string[];
}

/** Those with the most settled jobs first. @param address selects only this worker */
export async function selectRegistered(
  database: Database,
  address?: string,
): Promise<RegisteredRow[]> {
  const { rows } = await database.query<RegisteredRow>(
    `select worker.address, authority, proof_key, payout, endpoint, status, stake_tokens,
       unstaking_tokens, unstake_ready_at, jobs_settled, registered_at,
       array(
         select model.id from mirror.worker_models hosted
         join mirror.models model on model.address = hosted.model
         where hosted.worker = worker.address order by model.id
       ) as models
     from mirror.workers worker where $1::text is null or worker.address = $1
     order by jobs_settled desc, worker.address limit 1000`,
    [address ?? null],
  );
  return rows;
}

export interface PeriodRow extends Omit<ClassesRow, 'name'> {
  start: Date;
  probes: bigint;
  answered: bigint;
}

const KEPT = `hour > now() - interval '90 days'`;
const PERIOD = `coalesce(probes, 0)::bigint as probes, coalesce(answered, 0)::bigint as answered,
  coalesce(first_tokens, 0) as first_tokens, coalesce(failures, 0) as failures,
  coalesce(classes, '{}') as classes`;

/** Those in which it was probed, oldest first. */
export async function selectWorkerHours(database: Database, worker: string): Promise<PeriodRow[]> {
  const { rows } = await database.query<PeriodRow>(
    `with measured as (
       select hour, ${SUMMED} from service.worker_hours
       where worker = $1 and ${KEPT} group by hour
     )
     select hour as start, ${PERIOD}
     from service.worker_probes left join measured using (hour)
     where worker = $1 and ${KEPT} order by hour`,
    [worker],
  );
  return rows;
}

/**
 * Oldest first; days of UTC.
 *
 * @param modelId first tokens of this model alone, and probes of the workers that host it now
 */
export async function selectDays(database: Database, modelId?: string): Promise<PeriodRow[]> {
  const { rows } = await database.query<PeriodRow>(
    `with measured as (
       select date_trunc('day', hour, 'UTC') as day, ${SUMMED} from service.worker_hours
       where ${KEPT} and ($1::text is null or model_id = $1) group by day
     ), probed as (
       select date_trunc('day', hour, 'UTC') as day, sum(probes) as probes,
         sum(answered) as answered
       from service.worker_probes
       where ${KEPT} and ($1::text is null or worker in (
         select hosted.worker from mirror.worker_models hosted
         join mirror.models model on model.address = hosted.model where model.id = $1
       ))
       group by day
     )
     select day as start, ${PERIOD}
     from probed full join measured using (day)
     where $1::text is not null or probes > 0 order by day`,
    [modelId ?? null],
  );
  return rows;
}

/** Stake that verdicts took. */
interface SlashRow {
  unix_time: bigint;
  stake_tokens: bigint;
  job_id: string | null;
  signature: string;
}

/** Newest first. */
export async function selectSlashes(database: Database, worker: string): Promise<SlashRow[]> {
  const { rows } = await database.query<SlashRow>(
    `select unix_time, (data ->> 'slashedTokens')::numeric as stake_tokens,
       'job_' || (data ->> 'jobId') as job_id, journal.signature
     from mirror.account_changes change
     join mirror.journal journal using (signature, instruction_index, inner_index)
     where change.address = $1 and event_name = 'DisputeResolved' and folded
       and (data ->> 'slashedTokens')::numeric > 0
     order by change.sequence desc limit 100`,
    [worker],
  );
  return rows;
}

/** The mirror's slot, and the lengths of queues. */
export interface BacklogRow {
  slot: bigint | null;
  running_jobs: number;
  webhook_deliveries_due: number;
  open_disputes: number;
}

export async function selectBacklog(database: Database): Promise<BacklogRow> {
  const { rows } = await database.query<BacklogRow>(
    `select
       (select slot from mirror.cursors where name = 'confirmed') as slot,
       (select count(*)::integer from mirror.jobs
        where status in ('pending', 'processing', 'settling')) as running_jobs,
       (select count(*)::integer from service.webhook_deliveries
        where status = 'pending' and due_at <= now()) as webhook_deliveries_due,
       (select count(*)::integer from mirror.jobs where status = 'disputed') as open_disputes`,
  );
  return rows[0] as BacklogRow;
}
