import type { Database } from '../../runtime/postgres.ts';
import type { createHealthProbe } from '../routing/workerHealth.ts';
import { selectEligibleWorkers, type WorkerRow } from '../statements/workers.ts';
import { CanaryRefusedError } from './errors.ts';

/** The workers of a model that can be tried now, and those that can take jobs and do not answer. */
export interface Candidates {
  answering: WorkerRow[];
  /** Addresses. */
  silent: string[];
}

/**
 * @param options.worker the address of the only one to try; undefined: all
 * @throws CanaryRefusedError when there is none
 */
export async function findCandidates(options: {
  database: Database;
  probe: ReturnType<typeof createHealthProbe>;
  modelAddress: string;
  worker: string | undefined;
}): Promise<Candidates> {
  const { database, probe, modelAddress, worker } = options;
  const eligible = (await selectEligibleWorkers(database))
    .filter(({ models }) => models.includes(modelAddress))
    .filter(({ address }) => worker === undefined || address === worker)
    .sort((one, other) => (one.address < other.address ? -1 : 1));
  const probed = await Promise.all(
    eligible.map(async (row) => ({ row, answers: (await probe(row)) !== undefined })),
  );
  const answering = probed.filter(({ answers }) => answers).map(({ row }) => row);
  if (answering.length > 0) {
    const silent = probed.filter(({ answers }) => !answers).map(({ row }) => row.address);
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
