import { PublicKey } from '@solana/web3.js';
import { jobDispute } from '../../programs/client/instructions/index.ts';
import { publicKeyOf } from '../../programs/client/publicKeyOf.ts';
import type { Outcome } from '../../programs/client/sender/outcome.ts';
import { JOB_STATUSES, word } from '../../programs/client/vocabulary.ts';
import { serviceUnavailable } from '../errors.ts';
import { actor, type LedgerContext, readJob } from './context.ts';

/** How the attempt to open a dispute ended. */
export type DisputeEnd =
  | { status: 'opened'; signature: string; arbitrationWindowSeconds: bigint }
  | { status: 'already open' | 'window closed' | 'limit reached' }
  /** Another controller locked the job, so that only it and the wallet may dispute. */
  | { status: 'not ours' };

/** Opens disputes on the ledger, as the job's controller. */
export interface DisputeOnLedger {
  /** @throws ApiError service_unavailable when the ledger does not decide */
  open(job: { address: string; wallet: string }, clientHash: string): Promise<DisputeEnd>;
}

/** Each try lives as long as a blockhash; the window itself ends them. */
const TRIES_MAX = 5;

export function createDisputeOnLedger(context: LedgerContext): DisputeOnLedger {
  return {
    async open({ address, wallet }, clientHash) {
      const job = new PublicKey(address);
      const instruction = jobDispute({
        ...actor(context),
        job,
        creditAccount: context.addresses.creditAccount(publicKeyOf(wallet)),
        clientHash: Buffer.from(clientHash, 'hex'),
      });
      for (let tries = 0; tries < TRIES_MAX; tries += 1) {
        const outcome = await context.exits.add({
          instructions: [instruction],
          signers: [context.signer],
          key: wallet,
        });
        if (outcome.status === 'rejected') return refused(outcome);
        const found = await readJob(context, job, outcome);
        if (outcome.status === 'confirmed' && found) {
          const arbitrationWindowSeconds = BigInt(found.arbitrationWindowSeconds);
          return { status: 'opened', signature: outcome.signature, arbitrationWindowSeconds };
        }
        // It never landed: somebody else may have disputed or closed the job meanwhile.
        if (!found) return { status: 'window closed' };
        if (word(JOB_STATUSES, found.status) !== 'settled') return { status: 'already open' };
      }
      throw serviceUnavailable('The ledger did not take the dispute.');
    },
  };
}

function refused({ error }: Extract<Outcome, { status: 'rejected' }>): DisputeEnd {
  switch (error.name) {
    case 'DisputeWindowClosed':
    // Only what is past its window can have been closed.
    case 'WrongAccountOwner':
      return { status: 'window closed' };
    case 'AlreadyDisputed':
    case 'WrongJobStatus':
      return { status: 'already open' };
    case 'DisputeLimitReached':
      return { status: 'limit reached' };
    case 'Unauthorized':
      return { status: 'not ours' };
    default:
      throw serviceUnavailable(
        'The ledger refused the dispute.',
        new Error(`refused as ${error.name}`),
      );
  }
}
