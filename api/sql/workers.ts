import type { Database } from '../../common/postgres.ts';
import type { Tier } from '../../programs/client/generated/vocabulary.ts';
import type { Price } from '../../programs/client/pricing.ts';

/** One model of the catalog as the ledger has it. */
export interface ModelRow {
  address: string;
  id: string;
  tier: Tier;
  label: string;
  originator: string;
  context_window_tokens: number;
  credits_per_request: number;
  credits_per_1k_tokens: number;
  long_completion_threshold_tokens: number;
  created_at: bigint;
  retires_at: bigint | null;
  /** The sha256 of its card in hex; null where none is pinned. */
  card_hash: string | null;
}

/** What the model charges now. */
export function priceOf(model: ModelRow): Price {
  return {
    creditsPerRequest: model.credits_per_request,
    creditsPer1kTokens: model.credits_per_1k_tokens,
    longCompletionThresholdTokens: model.long_completion_threshold_tokens,
  };
}

type Counts =
  | 'context_window_tokens'
  | 'credits_per_request'
  | 'credits_per_1k_tokens'
  | 'long_completion_threshold_tokens';

export async function selectModels(database: Database): Promise<ModelRow[]> {
  const { rows } = await database.query<Omit<ModelRow, Counts> & Record<Counts, bigint>>({
    name: 'select_models',
    text: `
      select address, id, tier, label, originator, context_window_tokens, credits_per_request,
             credits_per_1k_tokens, long_completion_threshold_tokens, created_at, retires_at,
             card_hash
      from mirror.models
      order by created_at, id`,
  });
  // 32 bits on the ledger, so each fits a number.
  return rows.map((row) => ({
    ...row,
    context_window_tokens: Number(row.context_window_tokens),
    credits_per_request: Number(row.credits_per_request),
    credits_per_1k_tokens: Number(row.credits_per_1k_tokens),
    long_completion_threshold_tokens: Number(row.long_completion_threshold_tokens),
  }));
}

/** A worker that the program lets us acknowledge: active, staked, not unstaking. */
export interface WorkerRow {
  address: string;
  proof_key: string;
  payout: string;
  endpoint: string;
  /** Addresses of the models it hosts. */
  models: string[];
  /** Of them, those whose last canary it failed. */
  failed_canaries: string[];
  /** Of them, those whose last canary found that it keeps no schema. */
  formless: string[];
  /** Of them, those whose last canary found that it calls no tool. */
  toolless: string[];
}

export async function selectEligibleWorkers(database: Database): Promise<WorkerRow[]> {
  const { rows } = await database.query<WorkerRow>({
    name: 'select_eligible_workers',
    text: `
      select worker.address, worker.proof_key, worker.payout, worker.endpoint,
             array_agg(hosted.model order by hosted.model) as models,
             array_remove(array_agg(case when not has_passed then hosted.model end), null)
               as failed_canaries,
             array_remove(array_agg(case when not keeps_format then hosted.model end), null)
               as formless,
             array_remove(array_agg(case when not calls_tools then hosted.model end), null)
               as toolless
      from mirror.workers worker
      join mirror.worker_models hosted on hosted.worker = worker.address
      left join service.canary_verdicts verdict
        on verdict.worker = worker.address and verdict.model = hosted.model
      cross join mirror.config config
      where worker.status = 'active'
        and worker.unstaking_tokens = 0
        and worker.stake_tokens >= config.minimum_stake_tokens
      group by worker.address`,
  });
  return rows;
}

/** What a canary found of a worker. */
export interface CanaryVerdict {
  worker: string;
  /** The model's address. */
  model: string;
  has_passed: boolean;
  /** Null where no schema was asked: what was found before stays. */
  keeps_format: boolean | null;
  /** Null where no tool was asked for; as above. */
  calls_tools: boolean | null;
}

export async function upsertVerdicts(
  database: Database,
  verdicts: readonly CanaryVerdict[],
): Promise<void> {
  await database.query(
    `insert into service.canary_verdicts as kept (worker, model, has_passed, keeps_format,
       calls_tools, tools_called_at)
     select verdict.*, case when calls_tools then now() end
     from jsonb_to_recordset($1) as verdict (worker text, model text, has_passed boolean,
       keeps_format boolean, calls_tools boolean)
     order by worker
     on conflict (worker, model) do update set has_passed = excluded.has_passed,
       keeps_format = coalesce(excluded.keeps_format, kept.keeps_format),
       calls_tools = coalesce(excluded.calls_tools, kept.calls_tools),
       tools_called_at = coalesce(excluded.tools_called_at, kept.tools_called_at),
       judged_at = now()`,
    [JSON.stringify(verdicts)],
  );
}

/** How long a worker took to its first token with a model. */
export interface Observation {
  worker: string;
  modelId: string;
  firstTokenMs: number;
}

/**
 * Adds observations, for every instance's median. Of their models' observations that no reader needs
 * any more, it deletes twice as many. So the table shrinks to an hour's worth, however many come. It
 * deletes at least 100, so that a quiet hour clears what a busy one left. What another instance deletes
 * at the same time is skipped, so that none waits for another.
 */
export async function insertObservations(
  database: Database,
  observations: readonly Observation[],
): Promise<void> {
  await database.query({
    name: 'insert_worker_observations',
    text: `
      with deleted as (
        select count(*) from service.delete_rows('worker_observations', array(
          select ctid from service.worker_observations
          where model_id = any($2) and observed_at < now() - interval '1 hour'
          limit greatest(100, 2 * cardinality($2::text[]))
          for update skip locked
        ))
      )
      insert into service.worker_observations (worker, model_id, first_token_ms)
      select observed.* from deleted, unnest($1::text[], $2::text[], $3::int[]) as observed`,
    values: [
      observations.map(({ worker }) => worker),
      observations.map(({ modelId }) => modelId),
      observations.map(({ firstTokenMs }) => Math.round(firstTokenMs)),
    ],
  });
}

/**
 * The p50 time to first token of each model, over all instances. It is of the last ten minutes, or of the
 * ten before the last observation where that is older. The index finds models and observations, of
 * which there may be an hour's.
 */
export async function selectMedianLatencies(database: Database): Promise<Map<string, number>> {
  const { rows } = await database.query<{ model_id: string; median_ms: number }>({
    name: 'select_median_latencies',
    text: `
      with recursive observed as (
        (select model_id from service.worker_observations order by model_id limit 1)
        union all
        select next.model_id from observed cross join lateral (
          select model_id from service.worker_observations
          where model_id > observed.model_id order by model_id limit 1
        ) next
      )
      select observed.model_id, median_ms
      from observed
      cross join lateral (
        select max(observed_at) as at from service.worker_observations
        where model_id = observed.model_id
      ) latest
      cross join lateral (
        select percentile_disc(0.5) within group (order by first_token_ms) as median_ms
        from service.worker_observations
        where model_id = observed.model_id and observed_at >
          case when latest.at > now() - interval '10 minutes' then now() else latest.at end
            - interval '10 minutes'
      ) recent`,
  });
  return new Map(rows.map((row) => [row.model_id, row.median_ms]));
}

/** How quick a worker was with a model lately. */
interface FirstTokenRow {
  worker: string;
  /** The model's address. */
  model: string;
  first_token_ms: number;
}

/** The median time to first token of each worker and model over ten minutes, over all instances. */
export async function selectFirstTokens(database: Database): Promise<FirstTokenRow[]> {
  const { rows } = await database.query<FirstTokenRow>(`
    select observation.worker, model.address as model,
           percentile_disc(0.5) within group (order by first_token_ms) as first_token_ms
    from service.worker_observations observation
    join mirror.models model on model.id = observation.model_id
    where observed_at > now() - interval '10 minutes'
    group by observation.worker, model.address`);
  return rows;
}
