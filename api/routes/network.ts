import { creditsNumber, isoTime } from '../../common/format.ts';
import type { Database } from '../../common/postgres.ts';
import { ApiError } from '../contracts/errors.ts';
import type { networkRoutes, StatusAnswer, WorkerDetail } from '../contracts/network.ts';
import type { Catalog } from '../jobs/catalog.ts';
import {
  selectDays,
  type selectModelDay,
  selectRegistered,
  selectSlashes,
  selectWorkerHours,
} from '../sql/network.ts';
import { selectIncidents, selectRecordedDays } from '../sql/status.ts';
import { createPartReader, type PartServices } from '../status/parts.ts';
import type { WorkerDirectory } from '../workers/directory.ts';
import { requireRules } from './account.ts';
import { dayOf, type Measurements, measuredView, periodView, remember } from './measurements.ts';
import type { Handlers } from './serveRoutes.ts';

interface NetworkServices extends PartServices {
  catalog: Catalog;
  directory: WorkerDirectory;
  measurements: Measurements;
  nowSeconds: () => bigint;
}

/** The public pages' data. Each answer is cached for some seconds. */
export function networkHandlers(services: NetworkServices): Handlers<typeof networkRoutes> {
  const { database, measurements } = services;
  const rules = remember(5_000, () => requireRules(database));
  const status = remember(2_000, createStatus(services));

  return {
    getNetwork: async () => networkView(services, await measurements.day()),
    async getWorkers() {
      const [data, { stake_decimals, minimum_stake_tokens: minimum }] = await Promise.all([
        measurements.listWorkers(),
        rules(),
      ]);
      return { object: 'list', data, stake_decimals, minimum_stake_tokens: String(minimum) };
    },
    async getWorker({ params: { worker } }) {
      const [[row], view, history, { stake_decimals }] = await Promise.all([
        selectRegistered(database, worker),
        measurements.workerViewer(),
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
