import type { PublicKey } from '@solana/web3.js';
import type { LedgerClock } from '../../programs/client/sender/ledgerClock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Escrow, LockedJob } from '../ledger/escrow.ts';
import type { Slot } from '../routing/slots.ts';
import type { WorkerClient, WorkerTask } from '../routing/workerClient.ts';
import type { WorkerDirectory } from '../routing/workerDirectory.ts';
import { type AttemptEnd, runAttempt } from './attempt.ts';
import { ATTEMPTS_MAX } from './deadlines.ts';
import type { Delivery } from './delivery.ts';

export interface AnswerServices {
  programId: PublicKey;
  directory: WorkerDirectory;
  workers: WorkerClient;
  escrow: Escrow;
  clock: LedgerClock;
  logger: Logger;
  /** Keeps what was learnt about the worker's speed, for every instance's choice. */
  onFirstToken: (observation: { worker: string; modelId: string; firstTokenMs: number }) => void;
}

/**
 * Gets the locked job answered: asks the worker whose slot is reserved, then others while no
 * content was passed on. Releases every slot it holds.
 */
export async function answerJob(
  services: AnswerServices,
  options: {
    job: LockedJob;
    chat: Record<string, unknown>;
    slot: Slot;
    delivery: Delivery;
    clientGone: AbortSignal;
    keepPartial: boolean;
  },
): Promise<AttemptEnd> {
  const { directory, workers, escrow, clock, logger, programId } = services;
  const { job, chat, delivery, clientGone, keepPartial } = options;
  const modelAddress = job.model.address;
  const tried = new Set<string>();
  let end: AttemptEnd = {
    kind: 'failed',
    reason: 'worker_error',
    hasContent: false,
    cause: 'none',
  };
  let next: Slot | undefined = options.slot;

  for (let attempt = 1; next && attempt <= ATTEMPTS_MAX; attempt += 1) {
    const slot: Slot = next;
    const { worker } = slot;
    tried.add(worker.address);
    const task: WorkerTask = {
      endpoint: worker.endpoint,
      workerAddress: worker.address,
      jobId: job.id,
      jobAddress: job.address,
      attempt,
      tokenLimit: job.tokenLimit,
      chat,
    };
    let engine: string | null = null;
    let hasBegun = false;
    escrow.acknowledge(job, worker.address, attempt);
    try {
      end = await runAttempt({
        slot,
        task,
        programId,
        workers,
        clock,
        deadlines: job.deadlines,
        hasOthers: () =>
          attempt < ATTEMPTS_MAX &&
          directory.active(modelAddress).some((other) => !tried.has(other.address)),
        onStarted: (name) => {
          engine = name;
        },
        onContent: (text) => {
          if (!hasBegun) delivery.begin({ address: worker.address, engine });
          hasBegun = true;
          delivery.write(text);
        },
        onFirstToken: (firstTokenMs) => {
          slot.observeFirstToken(firstTokenMs);
          services.onFirstToken({ worker: worker.address, modelId: job.model.id, firstTokenMs });
        },
        clientGone,
        keepPartial,
      });
    } finally {
      slot.release();
    }
    if (end.kind !== 'failed') return end;
    slot.cool();
    logger.warn({
      msg: 'A worker failed at a job',
      job_id: job.id,
      worker: worker.address,
      attempt,
      reason: end.reason,
      cause: end.cause,
    });
    if (end.hasContent) return end;
    next = await directory.reserve({ modelAddress, except: tried, waitMs: 0 });
  }
  return end;
}
