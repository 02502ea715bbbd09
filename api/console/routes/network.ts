import { creditsNumber, isoTime } from '../../../common/format.ts';
import type { Database } from '../../../common/postgres.ts';
import { getSignaturesForAddress } from '../../../programs/client/rpc/methods.ts';
import type { Rpc } from '../../../programs/client/rpc/rpc.ts';
import { ApiError } from '../../contracts/errors.ts';
import { modelViewer } from '../../http/routes/models.ts';
import type { Readiness } from '../../http/routes/readiness.ts';
import type { Catalog } from '../../jobs/catalog.ts';
import type { ModelCards } from '../../models/cards.ts';
import { percentileOf } from '../../sql/workerHours.ts';
import type { WorkerDirectory } from '../../workers/directory.ts';
import type {
  ConsoleWorker,
  networkRoutes,
  StatusAnswer,
  WorkerDetail,
} from '../contracts/network.ts';
import type { Handlers } from '../http/serveRoutes.ts';
import {
  type ClassesRow,
  type PeriodRow,
  type RegisteredRow,
  selectBacklog,
  selectClasses,
  selectDays,
  selectModelDay,
  selectProbes,
  selectRegistered,
  selectSlashes,
  selectWorkerHours,
} from '../sql/network.ts';
import { timeOrNull } from '../views/jobView.ts';
import { createMirrorLag } from '../views/mirrorLag.ts';
import { requireRules } from './account.ts';

interface NetworkServices {
  database: Database;
  rpc: Pick<Rpc, 'ask'>;
  programId: string;
  catalog: Catalog;
  directory: WorkerDirectory;
  cards: ModelCards;
  readiness: () => Promise<Readiness>;
  nowSeconds: () => bigint;
}

const DAY_SECONDS = 86_400n;

/** The public pages' data. Each answer is cached for some seconds. */
export function networkHandlers(services: NetworkServices): Handlers<typeof networkRoutes> {
  const { database, catalog, directory, nowSeconds } = services;
  const modelDay = remember(5_000, () => selectModelDay(database, nowSeconds() - DAY_SECONDS));
  const byModel = remember(5_000, () => selectClasses(database, 'model_id'));
  const byWorker = remember(5_000, () => selectClasses(database, 'worker'));
  const probes = remember(5_000, () => selectProbes(database));
  const registered = remember(5_000, () => selectRegistered(database));
  const rules = remember(5_000, () => requireRules(database));

  async function workerViewer(): Promise<(row: RegisteredRow) => ConsoleWorker> {
    const [classes, probed] = await Promise.all([byWorker(), probes()]);
    const answering = new Set(directory.answering().map(({ address }) => address));
    return (row) => workerView(row, classes.get(row.address), probed.get(row.address), answering);
  }

  return {
    getNetwork: async () => networkView(services, await modelDay()),
    async getModels() {
      const [day, classes, view] = await Promise.all([
        modelDay(),
        byModel(),
        modelViewer(services),
      ]);
      const jobs = new Map(day.map((row) => [row.model_id, row.jobs]));
      const data = catalog.list().map((model) => ({
        ...view(model),
        first_token_p95_ms: percentileOf(classes.get(model.id)?.classes ?? [], 0.95),
        jobs_24h: Number(jobs.get(model.id) ?? 0n),
      }));
      return { object: 'list', data };
    },
    async getWorkers() {
      const [rows, view, { stake_decimals, minimum_stake_tokens }] = await Promise.all([
        registered(),
        workerViewer(),
        rules(),
      ]);
      return {
        object: 'list',
        data: rows.map(view),
        stake_decimals,
        minimum_stake_tokens: String(minimum_stake_tokens),
      };
    },
    async getWorker({ params: { worker } }) {
      const [[row], view, history, { stake_decimals }] = await Promise.all([
        selectRegistered(database, worker),
        workerViewer(),
        readHistory(database, worker),
        rules(),
      ]);
      if (!row) throw new ApiError('worker_not_found', 'No worker has this address.');
      const { payout, proof_key } = row;
      return { ...view(row), payout, proof_key, stake_decimals, ...history };
    },
    getStatus: remember(2_000, createStatus(services)),
  };
}

/** Calls at most once in `ageMsMax`, and returns the same in between. A failure is not kept. */
function remember<Result>(ageMsMax: number, read: () => Promise<Result>): () => Promise<Result> {
  let latest: { readAtMs: number; result: Promise<Result> } | undefined;
  return () => {
    const nowMs = performance.now();
    if (latest && nowMs - latest.readAtMs < ageMsMax) return latest.result;
    const result = read();
    latest = { readAtMs: nowMs, result };
    result.catch(() => {
      if (latest?.result === result) latest = undefined;
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
    hours: hours.map(hourView),
    slashes: slashes.map((slash) => ({
      at: isoTime(slash.unix_time),
      stake_tokens: String(slash.stake_tokens),
      job_id: slash.job_id,
      tx: slash.signature,
    })),
  };
}

function createStatus(services: NetworkServices): () => Promise<StatusAnswer> {
  const { database, rpc, programId, readiness, nowSeconds } = services;
  const lag = createMirrorLag(() => performance.now());

  /** The slot of the program's newest transaction. On an idle ledger, the mirror lacks nothing after it. */
  async function readNewest(): Promise<number | null> {
    const asked = { commitment: 'confirmed', limit: 1 } as const;
    try {
      const [newest] = await getSignaturesForAddress(rpc, programId, asked);
      return newest?.slot ?? 0;
    } catch {
      // The answer shows the ledger as away.
      return null;
    }
  }

  return async () => {
    const [{ status, parts }, newestSlot] = await Promise.all([readiness(), readNewest()]);
    if (newestSlot !== null) lag.note(newestSlot);
    // Without the database the other parts are still shown.
    const [backlog, days] =
      parts.database === 'ok'
        ? await Promise.all([selectBacklog(database), selectDays(database)])
        : [null, null];
    const slot = backlog?.slot == null ? null : Number(backlog.slot);
    const mirror = backlog ? lag.judge(slot) : 'unknown';
    return {
      is_ready: status === 'ready' && mirror !== 'away',
      parts: { ...parts, mirror },
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
      days:
        days?.map((row) => ({
          day: row.start.toISOString().slice(0, 10),
          probes: Number(row.probes),
          answered: Number(row.answered),
          failures: Number(row.failures),
          first_token_p50_ms: percentileOf(row.classes, 0.5),
        })) ?? null,
      as_of: isoTime(nowSeconds()),
    };
  };
}

function hourView(row: PeriodRow & Pick<ClassesRow, 'classes'>): WorkerDetail['hours'][number] {
  return {
    hour: row.start.toISOString(),
    probes: Number(row.probes),
    answered: Number(row.answered),
    first_token_p50_ms: percentileOf(row.classes, 0.5),
    first_token_p95_ms: percentileOf(row.classes, 0.95),
    jobs: Number(row.first_tokens),
    failures: Number(row.failures),
  };
}
