import type { ModelRow } from '../statements/models.ts';
import type { Candidates } from './candidates.ts';
import { CanaryRefusedError } from './errors.ts';
import { drawQuestions } from './questions.ts';
import { reportWorkers, type WorkerReport } from './report.ts';
import { type CanaryServices, type Trial, tryWorker } from './tryWorker.ts';

/** What is asked, at whose cost, and what is good enough. */
export interface CanaryPlan {
  wallet: string;
  seed: number;
  questions: number;
  /** The least share of right answers, from 0 to 1. */
  rightMin: number;
  /** Aborts when the run is to end early; the jobs under way are failed. */
  interrupted: AbortSignal;
}

/**
 * Puts each question to all workers at once, so that none can tell another what comes. Every job
 * has ended on the ledger when this returns or throws.
 *
 * @throws CanaryRefusedError when interrupted
 * @throws ApiError, PriceChangedError, LedgerUnavailableError when a job cannot be locked
 */
export async function runCanary(
  services: CanaryServices,
  options: CanaryPlan & { model: ModelRow; workers: Candidates['answering'] },
): Promise<WorkerReport[]> {
  const { workers, model, seed, rightMin, interrupted } = options;
  const questions = drawQuestions({ seed, count: options.questions, modelId: model.id });
  const trials = new Map<string, Trial[]>(workers.map(({ address }) => [address, []]));
  for (const question of questions) {
    const ends = await Promise.allSettled(
      workers.map(async (worker) => {
        const trial = await tryWorker(services, { ...options, worker, question });
        trials.get(worker.address)?.push(trial);
      }),
    );
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    if (interrupted.aborted) throw new CanaryRefusedError('Interrupted. Every job has ended.');
  }
  return reportWorkers({ questions, trials, rightMin });
}
