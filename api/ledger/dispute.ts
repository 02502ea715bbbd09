import { PublicKey } from '@solana/web3.js';
import { delay } from '../../common/wait.ts';
import { jobDispute } from '../../programs/client/instructions.ts';
import { publicKeyOf } from '../../programs/client/keys.ts';
import type { Outcome } from '../../programs/client/sender/outcome.ts';
import { serviceUnavailable } from '../contracts/errors.ts';
import type { DisputeEnd, DisputeOnLedger } from '../jobs/job.ts';
import { actor, type LedgerContext, readJob, retryRead } from './context.ts';

/** Each try lives as long as a blockhash; the window itself ends them. */
const TRIES_MAX = 5;
/** Before a node that is behind is asked again. */
const PAUSE_MS = 1_000;

export function createDisputeOnLedger(context: LedgerContext): DisputeOnLedger {
  return {
    readSeconds: () => retryRead(context, () => context.clock.read()),
    async open({ address, wallet, settlement_slot }, clientHash) {
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
        if (outcome.status === 'failed') {
          if (outcome.slot >= (settlement_slot ?? 0n)) return refused(outcome);
          // To that node the job still runs, or is not there at all.
          await delay(PAUSE_MS, undefined, context.time);
          continue;
        }
        const found = await readJob(context, job, outcome);
        if (outcome.status === 'landed' && found) {
          const arbitrationWindowSeconds = BigInt(found.arbitrationWindowSeconds);
          return { status: 'opened', signature: outcome.signature, arbitrationWindowSeconds };
        }
        // It never landed: somebody else may have disputed or closed the job meanwhile.
        if (!found) return { status: 'window closed' };
        if (found.status !== 'settled') return { status: 'already open' };
      }
      throw serviceUnavailable('The ledger did not take the dispute.');
    },
  };
}

function refused({ error }: Extract<Outcome, { status: 'failed' }>): DisputeEnd {
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
