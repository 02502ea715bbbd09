import { creditsNumber, isoTime } from '../../../common/format.ts';
import type { Database } from '../../../common/postgres.ts';
import { ApiError } from '../../contracts/errors.ts';
import { modelViewer } from '../../http/routes/models.ts';
import type { Catalog } from '../../jobs/catalog.ts';
import type { ModelCards } from '../../models/cards.ts';
import { percentileOf } from '../../sql/workerHours.ts';
import type { ModelRow } from '../../sql/workers.ts';
import type { WorkerDirectory } from '../../workers/directory.ts';
import type {
  ConsoleModel,
  ConsoleWorker,
  ModelDetail,
  networkRoutes,
  StatusAnswer,
  WorkerDetail,
} from '../contracts/network.ts';
import type { Handlers } from '../http/serveRoutes.ts';
import {
  type ClassesRow,
  type PeriodRow,
  type RegisteredRow,
  selectClasses,
  selectDays,
  selectModelDay,
  selectProbes,
  selectRegistered,
  selectSlashes,
  selectWorkerHours,
} from '../sql/network.ts';
import { selectIncidents, selectRecordedDays } from '../sql/status.ts';
import { createPartReader, type PartServices } from '../status/parts.ts';
import { timeOrNull } from '../views/jobView.ts';
import { requireRules } from './account.ts';

interface NetworkServices extends PartServices {
  catalog: Catalog;
  directory: WorkerDirectory;
  cards: ModelCards;
  nowSeconds: () => bigint;
}

const DAY_SECONDS = 86_400n;

/** The public pages' data. Each answer is cached for some seconds. */
export function networkHandlers(services: NetworkServices): Handlers<typeof networkRoutes> {
  const { database } = services;
  const rules = remember(5_000, () => requireRules(database));
  const workers = createWorkerReader(services);
  const models = createModelReader(services, workers);
  const status = remember(2_000, createStatus(services));

  return {
    getNetwork: async () => networkView(services, await models.day()),
    getModels: async () => ({ object: 'list', data: await models.list() }),
    getModel: ({ params }) => models.find(params.model),
    async getWorkers() {
      const [data, { stake_decimals, minimum_stake_tokens: minimum }] = await Promise.all([
        workers.list(),
        rules(),
      ]);
      return { object: 'list', data, stake_decimals, minimum_stake_tokens: String(minimum) };
    },
    async getWorker({ params: { worker } }) {
      const [[row], view, history, { stake_decimals }] = await Promise.all([
        selectRegistered(database, worker),
        workers.viewer(),
        readHistory(database, worker),
        rules(),
      ]);
      if (!row) throw new ApiError('worker_not_found', 'No worker has this address.');
      const { payout, proof_key } = row;
      return { ...view(row), payout, proof_key, stake_decimals, ...history };
    },
    getStatus: () => status(),
  };
}

/** The workers with what was measured of them. */
function createWorkerReader({ database, directory }: NetworkServices) {
  const byWorker = remember(5_000, () => selectClasses(database, 'worker'));
  const probes = remember(5_000, () => selectProbes(database));
  const registered = remember(5_000, () => selectRegistered(database));

  /** @param counted the first tokens to show of each */
  async function viewer(counted = byWorker()): Promise<(row: RegisteredRow) => ConsoleWorker> {
    const [classes, probed] = await Promise.all([counted, probes()]);
    const answering = new Set(directory.answering().map(({ address }) => address));
    return (row) => workerView(row, classes.get(row.address), probed.get(row.address), answering);
  }

  return {
    viewer,
    /** @param modelId only those that host it, with the first tokens of this model alone */
    async list(modelId?: string) {
      const counted =
        modelId === undefined ? byWorker() : selectClasses(database, 'worker', modelId);
      const [rows, view] = await Promise.all([registered(), viewer(counted)]);
      const isListed = ({ models }: RegisteredRow) =>
        modelId === undefined || models.includes(modelId);
      return rows.filter(isListed).map(view);
    },
  };
}

/** The models with what was measured of them. */
function createModelReader(
  services: NetworkServices,
  workers: ReturnType<typeof createWorkerReader>,
) {
  const { database, catalog, nowSeconds } = services;
  const day = remember(5_000, () => selectModelDay(database, nowSeconds() - DAY_SECONDS));
  const byModel = remember(5_000, () => selectClasses(database, 'model_id'));
  const hosting = remember(5_000, async (modelId) => {
    const [days, hosts] = await Promise.all([selectDays(database, modelId), workers.list(modelId)]);
    return {
      days: days.map((row) => ({ day: dayOf(row.start), ...periodView(row) })),
      workers: hosts,
    };
  });

  async function viewer(): Promise<(model: ModelRow) => ConsoleModel> {
    const [rows, classes, view] = await Promise.all([day(), byModel(), modelViewer(services)]);
    const jobs = new Map(rows.map((row) => [row.model_id, row.jobs]));
    return (model) => ({
      ...view(model),
      first_token_p95_ms: percentileOf(classes.get(model.id)?.classes ?? [], 0.95),
      jobs_24h: Number(jobs.get(model.id) ?? 0n),
    });
  }

  return {
    day,
    list: async () => catalog.list().map(await viewer()),
    /** @throws ApiError for an id of none */
    async find(id: string): Promise<ModelDetail> {
      const model = catalog.find(id);
      if (!model) throw new ApiError('model_not_found', 'No model has this id.', { status: 404 });
      const [view, measured] = await Promise.all([viewer(), hosting(model.id)]);
      return { ...view(model), ...measured };
    },
  };
}

/**
 * Calls at most once in `ageMsMax` for each name, and returns the same in between. A failure is not
 * kept. Names are kept, and so have to be those of a short list.
 */
function remember<Result>(
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

async function networkView(
  { catalog, directory, nowSeconds }: NetworkServices,
  day: Awaited<ReturnType<typeof selectModelDay>>,
) {
  const hosted = catalog.list().filter(({ address }) => directory.active(address).length > 0);
  const sum = (field: 'settled' | 'charged_credits') =>
    day.reduce((total, row) => total + row[field], 0n);
  const ordered = [...(await catalog.medianLatencies()).values()].sort((one, other) => one - other);
  return {
    models: hosted.length,
    workers: directory.answering().length,
    jobs_settled_24h: Number(sum('settled')),
    credits_charged_24h: creditsNumber(sum('charged_credits')),
    first_token_p50_ms: ordered[Math.floor(ordered.length / 2)] ?? null,
    as_of: isoTime(nowSeconds()),
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
    unstake_ready_at: timeOrNull(row.unstake_ready_at),
    jobs_settled: Number(row.jobs_settled),
    registered_at: isoTime(row.registered_at),
    first_token_p50_ms: percentileOf(classes, 0.5),
    first_token_p95_ms: percentileOf(classes, 0.95),
    uptime_24h: probed ? Number(probed.answered) / Number(probed.probes) : null,
  };
}

async function readHistory(
  database: Database,
  worker: string,
): Promise<Pick<WorkerDetail, 'hours' | 'slashes'>> {
  const [hours, slashes] = await Promise.all([
    selectWorkerHours(database, worker),
    selectSlashes(database, worker),
  ]);
  return {
    hours: hours.map((row) => ({ hour: row.start.toISOString(), ...periodView(row) })),
    slashes: slashes.map((slash) => ({
      at: isoTime(slash.unix_time),
      stake_tokens: String(slash.stake_tokens),
      job_id: slash.job_id,
      tx: slash.signature,
    })),
  };
}

function createStatus(services: NetworkServices): () => Promise<StatusAnswer> {
  const { database, nowSeconds } = services;
  const readParts = createPartReader(services);
  const days = remember(5_000, () => selectDays(database));
  const history = remember(30_000, () => readStatusHistory(database));
  return async () => {
    const { isReady, parts, newestSlot, backlog } = await readParts();
    const [measured, recorded] = backlog ? await Promise.all([days(), history()]) : [null, null];
    const slot = backlog?.slot == null ? null : Number(backlog.slot);
    return {
      is_ready: isReady,
      parts,
      mirror: {
        slot,
        newest_slot: newestSlot,
        lag_slots: slot === null || newestSlot === null ? null : Math.max(0, newestSlot - slot),
      },
      queues: backlog && {
        running_jobs: backlog.running_jobs,
        webhook_deliveries_due: backlog.webhook_deliveries_due,
        open_disputes: backlog.open_disputes,
      },
      days: measured?.map((row) => ({ day: dayOf(row.start), ...measuredView(row) })) ?? null,
      history: recorded,
      as_of: isoTime(nowSeconds()),
    };
  };
}

const INCIDENTS_MAX = 50;

async function readStatusHistory(
  database: Database,
): Promise<NonNullable<StatusAnswer['history']>> {
  const [days, incidents] = await Promise.all([
    selectRecordedDays(database),
    selectIncidents(database, INCIDENTS_MAX),
  ]);
  return {
    days: days.map(({ day, minutes, away }) => ({ day: dayOf(day), minutes, away })),
    incidents: incidents.map(({ part, began_at, ended_at }) => ({
      part,
      began_at: began_at.toISOString(),
      ended_at: ended_at?.toISOString() ?? null,
    })),
  };
}

const dayOf = (start: Date): string => start.toISOString().slice(0, 10);

const measuredView = (row: PeriodRow) => ({
  probes: Number(row.probes),
  answered: Number(row.answered),
  failures: Number(row.failures),
  first_token_p50_ms: percentileOf(row.classes, 0.5),
});

const periodView = (row: PeriodRow) => ({
  ...measuredView(row),
  first_token_p95_ms: percentileOf(row.classes, 0.95),
  jobs: Number(row.first_tokens),
});
