import { createSender } from '../../programs/client/sender/sender.ts';
import { createBackground } from '../../runtime/background.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createShutdown } from '../../runtime/shutdown.ts';
import { within } from '../../runtime/wait.ts';
import { createJobWork } from '../completion/jobWork.ts';
import { createRefunds } from '../completion/refund.ts';
import type { ApiConfig } from '../config.ts';
import { createEscrow } from '../ledger/createEscrow.ts';
import { reachLedger } from '../ledger/reachLedger.ts';
import { openResources } from '../resources.ts';
import { createHealthProbe } from '../routing/workerHealth.ts';
import { createJobWatch } from '../services/jobWatch.ts';
import { selectModels } from '../statements/models.ts';
import { findCandidates } from './candidates.ts';
import { CanaryRefusedError } from './errors.ts';
import type { WorkerReport } from './report.ts';
import { type CanaryPlan, runCanary } from './runCanary.ts';

/** How the workers of a model did. */
export interface CanaryReport {
  workers: WorkerReport[];
  /** Addresses of those that can take jobs and did not answer a probe: they were asked nothing. */
  silent: string[];
}

/** A job that its worker leaves open is refunded two minutes after its lock. */
const SHUTDOWN_TIMEOUT_MS = 150_000;
const LEDGER_WAIT_MS = 15_000;
/** One listens for the mirror's news. */
const POOL_CONNECTIONS_MAX = 4;

/**
 * Tries workers out as the gateway that `config` describes, beside the processes that serve it.
 *
 * @throws CanaryRefusedError, and what locking a job throws
 */
export async function startCanary(
  config: ApiConfig,
  plan: CanaryPlan & { modelId: string; worker: string | undefined },
): Promise<CanaryReport> {
  const logger = createLogger({ name: 'canary', level: config.LOG_LEVEL });
  const shutdown = createShutdown({ logger, timeoutMs: SHUTDOWN_TIMEOUT_MS });
  try {
    const resources = await openResources({
      ...{ config, logger, shutdown, createSender },
      applicationName: 'svc-canary',
      poolConnectionsMax: POOL_CONNECTIONS_MAX,
    });
    const { pool, ledger, dispatcher, workers, tokens, addresses } = resources;
    if (!(await within(LEDGER_WAIT_MS, reachLedger(ledger)))) {
      throw new CanaryRefusedError('The node at SOLANA_RPC_URL does not answer.');
    }
    const model = (await selectModels(pool)).find(({ id }) => id === plan.modelId);
    if (!model) throw new CanaryRefusedError(`No model has the id '${plan.modelId}'.`);
    const { answering, silent } = await findCandidates({
      database: pool,
      probe: createHealthProbe({ dispatcher, allowLoopback: config.SVC_ALLOW_LOOPBACK }),
      modelAddress: model.address,
      worker: plan.worker,
    });

    const watch = createJobWatch({ pool, logger });
    await watch.start();
    shutdown.add('job watch', watch.close);
    const background = createBackground();
    shutdown.add('jobs under way', background.drain);
    const escrow = createEscrow(ledger);
    const { clock } = ledger;
    const work = createJobWork({ background, watch, logger });
    const refunds = createRefunds({ escrow, clock, work });
    const { programId } = addresses;
    const services = { escrow, clock, workers, tokens, refunds, programId };
    return { silent, workers: await runCanary(services, { ...plan, model, workers: answering }) };
  } finally {
    await shutdown.run();
  }
}
