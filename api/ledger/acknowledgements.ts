import type { TransactionInstruction } from '@solana/web3.js';
import { jobAcknowledge } from '../../programs/client/instructions.ts';
import { publicKeyOf } from '../../programs/client/keyCache.ts';
import type { LockedJob } from '../jobs/job.ts';
import { actor, type LedgerContext } from './context.ts';

/** Announces on the ledger which worker was asked, without anybody waiting for it. */
export interface Acknowledgements {
  announce(job: LockedJob, workerAddress: string, attempt: number): void;
  /**
   * The acknowledgement that a settlement has to carry: undefined when the ledger has confirmed it.
   * One that was not sent yet is withdrawn, so that it is paid for once.
   */
  collect(job: LockedJob): TransactionInstruction | undefined;
  /** Forgets the job. */
  forget(job: LockedJob): void;
}

interface Announced {
  /** Built when it is sent: the worker, who is asked next, does not wait for that. */
  instruction: () => TransactionInstruction;
  isConfirmed: boolean;
}

export function createAcknowledgements(context: LedgerContext): Acknowledgements {
  const { acknowledgements, logger, signer } = context;
  const announced = new Map<string, Announced>();

  return {
    announce(job, workerAddress, attempt) {
      const instruction = () =>
        jobAcknowledge({
          ...actor(context),
          job: job.address,
          worker: publicKeyOf(workerAddress),
          attempt,
        });
      const mine: Announced = { instruction, isConfirmed: false };
      // Of an earlier worker nobody needs to hear any more.
      acknowledgements.take(job.id);
      announced.set(job.id, mine);
      const instructions = () => [instruction()];
      acknowledgements.add({ instructions, signers: [signer], key: job.id }).then(
        (outcome) => {
          mine.isConfirmed = outcome.status === 'confirmed';
        },
        (error: unknown) => {
          // The settlement carries it instead.
          logger.warn({ msg: 'Failed to send an acknowledgement', job_id: job.id, err: error });
        },
      );
    },
    collect(job) {
      acknowledgements.take(job.id);
      const last = announced.get(job.id);
      return last?.isConfirmed ? undefined : last?.instruction();
    },
    forget(job) {
      acknowledgements.take(job.id);
      announced.delete(job.id);
    },
  };
}
