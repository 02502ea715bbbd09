import type { PublicKey } from '@solana/web3.js';
import type { LedgerClock } from '../../programs/client/sender/ledgerClock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Escrow, LockedJob } from '../ledger/escrow.ts';
import type { Slot } from '../routing/slots.ts';
import type { WorkerClient } from '../routing/workerClient.ts';
import { type AttemptEnd, type Outrun, runAttempt, type WholeAnswer } from './attempt.ts';
import type { Delivery } from './delivery.ts';
import type { Runner } from './race.ts';

export interface AskServices {
  programId: PublicKey;
  workers: WorkerClient;
  escrow: Escrow;
  clock: LedgerClock;
  logger: Logger;
  /** Keeps what was learnt about the worker's speed, for every instance's choice. */
  onFirstToken: (observation: { worker: string; modelId: string; firstTokenMs: number }) => void;
}

/** What every attempt at a job has in common. */
export interface AskedJob {
  job: LockedJob;
  chat: Record<string, unknown>;
  delivery: Pick<Delivery, 'begin' | 'write'>;
  clientGone: AbortSignal;
  keepPartial: boolean;
  /** Called once the first words were passed on. */
  onBegun: () => void;
  /** Called before the signature is checked, which waits until what this begins is under way. */
  onWhole: (answer: WholeAnswer) => Promise<void>;
}

/** How an attempt ended: as the job's, or unheard because another had text before. */
export type Asked = AttemptEnd | Outrun;

/**
 * Puts the job to the worker of the slot, passes its text on if it is the one that is heard, and
 * lets the pool learn from how it ended. Releases the slot.
 *
 * @param options.isRival whether another worker has the job: then the ledger is told of this one
 *   only if it is heard, so that the job never names a worker whose answer is not wanted
 * @param options.replace finds a worker to go on with once this one has been silent for too long;
 *   false when there is none by the time that `silence` aborts: it has text, or all is over
 */
export async function ask(
  services: AskServices,
  options: AskedJob & {
    slot: Slot;
    attempt: number;
    runner: Runner;
    isRival: boolean;
    replace: (silence: AbortSignal) => Promise<boolean>;
  },
): Promise<Asked> {
  const { workers, escrow, clock, programId } = services;
  const { job, chat, slot, attempt, delivery, runner, isRival, ...rest } = options;
  const { worker } = slot;
  const acknowledge = (): void => escrow.acknowledge(job, worker.address, attempt);
  let engine: string | null = null;
  let hasBegun = false;
  try {
    const attempting = runAttempt({
      ...{ slot, programId, workers, clock, deadlines: job.deadlines, runner, ...rest },
      task: {
        endpoint: worker.endpoint,
        workerAddress: worker.address,
        jobId: job.id,
        jobAddress: job.address,
        attempt,
        tokenLimit: job.tokenLimit,
        chat,
      },
      onStarted: (name) => {
        engine = name;
      },
      onContent: (text) => {
        if (!hasBegun) {
          if (isRival) acknowledge();
          delivery.begin({ address: worker.address, engine });
        }
        delivery.write(text);
        if (!hasBegun) options.onBegun();
        hasBegun = true;
      },
      onFirstToken: (firstTokenMs) => {
        slot.observeFirstToken(firstTokenMs);
        services.onFirstToken({ worker: worker.address, modelId: job.model.id, firstTokenMs });
      },
    });
    // Now that the worker has it.
    if (!isRival) acknowledge();
    const end = await attempting;
    learn(services.logger, { job, chat, slot, attempt, end });
    return end;
  } finally {
    slot.release();
  }
}

function learn(
  logger: Logger,
  options: Pick<AskedJob, 'job' | 'chat'> & { slot: Slot; attempt: number; end: Asked },
): void {
  const { job, chat, slot, attempt, end } = options;
  const about = { job_id: job.id, worker: slot.worker.address, attempt };
  switch (end.kind) {
    case 'proven':
      slot.succeeded();
      break;
    case 'outrun':
      // It takes at least that long.
      slot.observeFirstToken(end.afterMs);
      break;
    case 'overdue':
      slot.failed();
      logger.warn({ msg: 'A worker proved nothing in time', ...about });
      break;
    case 'failed': {
      const { reason, cause } = end;
      // With stop sequences it is the client who decides whether there is any text.
      const isClientsDoing = reason === 'empty_output' && chat.stop !== undefined;
      if (end.busy) slot.foundBusy(end.busy.retryAfterMs);
      else if (!isClientsDoing) slot.failed();
      logger.warn({ msg: 'A worker failed at a job', ...about, reason, cause });
      break;
    }
  }
}
