import { createLogger } from '../../common/logger.ts';
import type { Database } from '../../common/postgres.ts';
import { createShutdown } from '../../common/shutdown.ts';
import { createBackground, systemTime, type Time, within } from '../../common/wait.ts';
import { createSender } from '../../programs/client/sender/sender.ts';
import type { ApiConfig } from '../config.ts';
import { createJobWatch, createJobWork } from '../jobs/jobWatch.ts';
import { reachLedger } from '../ledger/context.ts';
import { createEscrow } from '../ledger/escrow.ts';
import { openResources } from '../resources.ts';
import { insertSightings } from '../sql/workerHours.ts';
import {
  type ModelRow,
  selectEligibleWorkers,
  selectModels,
  upsertVerdicts,
  type WorkerRow,
} from '../sql/workers.ts';
import { createHealthProbe, isHealth } from '../workers/health.ts';
import { type CanaryQuestion, drawQuestions } from './questions.ts';
import {
  type CanaryServices,
  reportWorkers,
  type Trial,
  tryWorker,
  type WorkerReport,
} from './trial.ts';

/** What is asked, at whose cost, and what is good enough. */
interface CanaryPlan {
  wallet: string;
  seed: number;
  questions: number;
  /** The least share of right answers, from 0 to 1. */
  rightMin: number;
  /** Aborts when the run is to end early; the running jobs are failed. */
  interrupted: AbortSignal;
}

export interface CanaryReport {
  workers: WorkerReport[];
  /** Addresses of eligible workers that did not answer a probe. They got no question. */
  silent: string[];
}

/** The workers cannot be tried, or not to the end; the message says why. */
export class CanaryRefusedError extends Error {
  override name = 'CanaryRefusedError';
}

/** A job that its worker leaves open is refunded two minutes after its lock. */
const SHUTDOWN_TIMEOUT_MS = 150_000;

const LEDGER_WAIT_MS = 15_000;

/** One listens for notifications of the mirror. */
const POOL_CONNECTIONS_MAX = 4;
/** The schemas are our own, and no client waits: a busy machine leaves none unjudged. */
const FORMAT_LIMITS = { checkMs: 10_000, waitMs: 60_000 };

/**
 * Tries workers out as the gateway that `config` describes, beside the processes that serve it.
 *
 * @param time what it waits by: a test moves it on
 * @throws CanaryRefusedError, and what locking a job throws
 */
export async function startCanary(
  config: ApiConfig,
  plan: CanaryPlan & { modelId: string; worker: string | undefined },
  time: Time = systemTime,
): Promise<CanaryReport> {
  const logger = createLogger({ name: 'canary', level: config.LOG_LEVEL });
  const shutdown = createShutdown({ logger, timeoutMs: SHUTDOWN_TIMEOUT_MS });
  try {
    const resources = await openResources({
      config,
      logger,
      shutdown,
      createSender,
      applicationName: 'svc-canary',
      poolConnectionsMax: POOL_CONNECTIONS_MAX,
      formatLimits: FORMAT_LIMITS,
      time,
    });
    const { pool, ledger, workers, tokens, formats } = resources;
    if (!(await within(LEDGER_WAIT_MS, reachLedger(ledger), time))) {
      throw new CanaryRefusedError('The node at SOLANA_RPC_URL does not answer.');
    }
    const model = (await selectModels(pool)).find(({ id }) => id === plan.modelId);
    if (!model) throw new CanaryRefusedError(`No model has the id '${plan.modelId}'.`);
    const { answering, silent } = await findCandidates({
      database: pool,
      probe: createHealthProbe(resources.probing),
      model,
      worker: plan.worker,
    });

    const watch = await shutdown.open('job watch', createJobWatch({ pool, logger, time }));
    const background = createBackground();
    shutdown.add('running jobs', background.drain);
    const escrow = createEscrow(ledger);
    const { clock } = ledger;
    const work = createJobWork({ background, watch, logger });
    const { programId } = ledger.addresses;
    const own = { database: pool, escrow, clock, time, work, programId };
    const services = { ...own, workers, tokens, formats };
    const hasTools = config.SVC_PREVIEW.tools;
    const reports = await runCanary(services, { ...plan, hasTools, model, workers: answering });
    await recordVerdicts(pool, model, reports);
    return { silent, workers: reports };
  } finally {
    await shutdown.run();
  }
}

/** A worker, and whether it says that it keeps schemas and calls tools for the model. */
type Candidate = WorkerRow & { saysItKeepsFormat: boolean; saysItCallsTools: boolean };

/**
 * The eligible workers of a model: those that answer a probe, and those that do not.
 *
 * @param options.worker the address of the only one to try; undefined: all
 * @throws CanaryRefusedError when there is none
 */
async function findCandidates(options: {
  database: Database;
  probe: ReturnType<typeof createHealthProbe>;
  model: ModelRow;
  worker: string | undefined;
}): Promise<{ answering: Candidate[]; silent: string[] }> {
  const { database, probe, model, worker } = options;
  const eligible = (await selectEligibleWorkers(database))
    .filter(({ models }) => models.includes(model.address))
    .filter(({ address }) => worker === undefined || address === worker)
    .sort((one, other) => (one.address < other.address ? -1 : 1));
  const probed = await Promise.all(
    eligible.map(async (row) => ({ row, health: await probe(row) })),
  );
  const answering = probed.flatMap(({ row, health }) =>
    isHealth(health)
      ? {
          ...row,
          saysItKeepsFormat: health.response_format?.includes(model.id) ?? false,
          saysItCallsTools: health.tools?.includes(model.id) ?? false,
        }
      : [],
  );
  if (answering.length > 0) {
    const silent = probed.filter(({ health }) => !isHealth(health)).map(({ row }) => row.address);
    return { answering, silent };
  }
  if (worker === undefined) throw new CanaryRefusedError('No worker of the model can be reached.');
  throw new CanaryRefusedError(
    eligible.length > 0
      ? `The worker ${worker} does not answer a probe.`
      : `The worker ${worker} cannot be asked: it is not active, does not host the model, or has ` +
          'too little stake.',
  );
}

/**
 * Puts each question to all workers at once, so that none can warn another. Every job has ended on
 * the ledger when this returns or throws.
 *
 * @throws CanaryRefusedError when interrupted
 * @throws ApiError, PriceChangedError, LedgerUnavailableError when a job cannot be locked
 */
async function runCanary(
  services: CanaryServices & { database: Database },
  options: CanaryPlan & { hasTools: boolean; model: ModelRow; workers: Candidate[] },
): Promise<WorkerReport[]> {
  const { workers, model, seed, rightMin, interrupted, hasTools } = options;
  const questions = drawQuestions({
    ...{ seed, count: options.questions, modelId: model.id, hasTools },
  });
  const trials = new Map<string, Trial[]>(workers.map(({ address }) => [address, []]));
  for (const question of questions) {
    // An honest worker may have changed its endpoint or key within the last minutes.
    const rows = await selectEligibleWorkers(services.database);
    const present = new Map(rows.map((row) => [row.address, row]));
    const ends = await Promise.allSettled(
      workers.map(async (known) => {
        const worker = present.get(known.address) ?? known;
        const asked = askedOf(known, question);
        const trial = await tryWorker(services, { ...options, worker, question: asked });
        trials.get(worker.address)?.push(trial);
      }),
    );
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    if (interrupted.aborted) throw new CanaryRefusedError('Interrupted. Every job has ended.');
  }
  return reportWorkers({ questions, trials, rightMin });
}

/** The question, with the schema or the tool that a worker says it can do. */
function askedOf(known: Candidate, { request, expected }: CanaryQuestion): CanaryQuestion {
  const { saysItKeepsFormat, saysItCallsTools } = known;
  const format = saysItKeepsFormat ? {} : { response_format: undefined };
  const tools = saysItCallsTools ? {} : { tools: undefined, tool_choice: undefined };
  return { request: { ...request, ...format, ...tools }, expected };
}

/** Null where none was judged. */
const verdictOf = (kept: number, judged: number) => (judged > 0 ? kept === judged : null);

/** The last verdict counts for what every API promises, and in its choice. A failed one is a failure. */
async function recordVerdicts(
  database: Database,
  { address: model, id: modelId }: ModelRow,
  reports: readonly WorkerReport[],
): Promise<void> {
  const judged = reports
    // One that was full all the time was not judged.
    .filter(({ jobs_asked, jobs_refused }) => jobs_refused < jobs_asked)
    .map(({ worker, faults, ...found }) => ({
      ...{ worker, model, has_passed: faults.length === 0 },
      keeps_format: verdictOf(found.formats_kept, found.formats_judged),
      calls_tools: verdictOf(found.tools_called, found.tools_judged),
    }));
  await upsertVerdicts(database, judged);
  const failed = judged.filter(({ has_passed }) => !has_passed);
  await insertSightings(
    database,
    failed.map(({ worker }) => ({ worker, kind: 'failure', modelId })),
  );
}
