import { isoTime, isoTimeOrNull } from '../../common/format.ts';
import type { Database } from '../../common/postgres.ts';
import type { ConsoleModel, ConsoleWorker, ModelObject } from '../contracts/network.ts';
import {
  type ClassesRow,
  type PeriodRow,
  type RegisteredRow,
  selectClasses,
  selectDays,
  selectModelDay,
  selectProbes,
  selectRegistered,
} from '../sql/network.ts';
import { percentileOf } from '../sql/workerHours.ts';
import type { ModelRow } from '../sql/workers.ts';
import type { WorkerDirectory } from '../workers/directory.ts';

const DAY_SECONDS = 86_400n;
const AGE_MS_MAX = 5_000;

export type Measurements = ReturnType<typeof createMeasurements>;

/** What was measured of workers and models, read at most every 5 s. */
export function createMeasurements({
  database,
  directory,
  nowSeconds,
}: {
  database: Database;
  directory: WorkerDirectory;
  nowSeconds: () => bigint;
}) {
  const day = remember(AGE_MS_MAX, () => selectModelDay(database, nowSeconds() - DAY_SECONDS));
  const byModel = remember(AGE_MS_MAX, () => selectClasses(database, 'model_id'));
  const byWorker = remember(AGE_MS_MAX, () => selectClasses(database, 'worker'));
  const probes = remember(AGE_MS_MAX, () => selectProbes(database));
  const registered = remember(AGE_MS_MAX, () => selectRegistered(database));
  const hosting = remember(AGE_MS_MAX, async (modelId) => {
    const [days, workers] = await Promise.all([
      selectDays(database, modelId),
      listWorkers(modelId),
    ]);
    return { days: days.map((row) => ({ day: dayOf(row.start), ...periodView(row) })), workers };
  });

  /** @param counted the first tokens to show of each */
  async function workerViewer(
    counted = byWorker(),
  ): Promise<(row: RegisteredRow) => ConsoleWorker> {
    const [classes, probed] = await Promise.all([counted, probes()]);
    const answering = new Set(directory.answering().map(({ address }) => address));
    return (row) => workerView(row, classes.get(row.address), probed.get(row.address), answering);
  }

  /** @param modelId only those that host it, with the first tokens of this model alone */
  async function listWorkers(modelId?: string): Promise<ConsoleWorker[]> {
    const counted = modelId === undefined ? byWorker() : selectClasses(database, 'worker', modelId);
    const [rows, view] = await Promise.all([registered(), workerViewer(counted)]);
    const isListed = ({ models }: RegisteredRow) =>
      modelId === undefined || models.includes(modelId);
    return rows.filter(isListed).map(view);
  }

  return {
    /** The use of each model in the last 24 hours. */
    day,
    /** The workers that host a model, and its days. */
    hosting,
    workerViewer,
    listWorkers,
    async modelViewer(
      view: (model: ModelRow) => ModelObject,
    ): Promise<(model: ModelRow) => ConsoleModel> {
      const [rows, classes] = await Promise.all([day(), byModel()]);
      const jobs = new Map(rows.map((row) => [row.model_id, row.jobs]));
      return (model) => ({
        ...view(model),
        first_token_p95_ms: percentileOf(classes.get(model.id)?.classes ?? [], 0.95),
        jobs_24h: Number(jobs.get(model.id) ?? 0n),
      });
    },
  };
}

/**
 * Calls at most once in `ageMsMax` for each name, and returns the same in between. A failure is not
 * kept. Names are kept, and so have to be those of a short list.
 */
export function remember<Result>(
  ageMsMax: number,
  read: (name: string) => Promise<Result>,
): (name?: string) => Promise<Result> {
  const kept = new Map<string, { readAtMs: number; result: Promise<Result> }>();
  return (name = '') => {
    const nowMs = performance.now();
    const latest = kept.get(name);
    if (latest && nowMs - latest.readAtMs < ageMsMax) return latest.result;
    const result = read(name);
    kept.set(name, { readAtMs: nowMs, result });
    result.catch(() => {
      if (kept.get(name)?.result === result) kept.delete(name);
    });
    return result;
  };
}

function workerView(
  row: RegisteredRow,
  counted: Pick<ClassesRow, 'classes'> | undefined,
  probed: { answered: bigint; probes: bigint } | undefined,
  answering: ReadonlySet<string>,
): ConsoleWorker {
  const classes = counted?.classes ?? [];
  return {
    address: row.address,
    authority: row.authority,
    endpoint: row.endpoint,
    status: row.status,
    is_answering: answering.has(row.address),
    models: row.models,
    stake_tokens: String(row.stake_tokens),
    unstaking_tokens: String(row.unstaking_tokens),
    unstake_ready_at: isoTimeOrNull(row.unstake_ready_at),
    jobs_settled: Number(row.jobs_settled),
    registered_at: isoTime(row.registered_at),
    first_token_p50_ms: percentileOf(classes, 0.5),
    first_token_p95_ms: percentileOf(classes, 0.95),
    uptime_24h: probed ? Number(probed.answered) / Number(probed.probes) : null,
  };
}

export const dayOf = (start: Date): string => start.toISOString().slice(0, 10);

export const measuredView = (row: PeriodRow) => ({
  probes: Number(row.probes),
  answered: Number(row.answered),
  failures: Number(row.failures),
  first_token_p50_ms: percentileOf(row.classes, 0.5),
});

export const periodView = (row: PeriodRow) => ({
  ...measuredView(row),
  first_token_p95_ms: percentileOf(row.classes, 0.95),
  jobs: Number(row.first_tokens),
});
