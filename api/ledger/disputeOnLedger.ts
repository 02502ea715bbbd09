import { PublicKey } from '@solana/web3.js';
import { delay } from '../../common/wait.ts';
import { jobDispute } from '../../programs/client/instructions.ts';
import { publicKeyOf } from '../../programs/client/keys.ts';
import { COSTS } from '../../programs/client/sender/costs.ts';
import type { SendResult } from '../../programs/client/sender/sendResult.ts';
import { serviceUnavailable } from '../contracts/errors.ts';
import type { JobRow } from '../sql/jobs.ts';
import { actor, type LedgerContext, readJob, retryRead } from './context.ts';

/** How the attempt to open a dispute ended. */
export type DisputeResult =
  | { status: 'opened'; signature: string; arbitrationWindowSeconds: bigint }
  | { status: 'already open' | 'window closed' | 'limit reached' }
  /** Another controller locked the job, so that only it and the wallet may dispute. */
  | { status: 'not ours' };

/** Each try lives as long as a blockhash. Usually the dispute window ends first. */
const TRIES_MAX = 5;
/** Before a node that is behind is asked again. */
const PAUSE_MS = 1_000;

export type DisputeOnLedger = ReturnType<typeof createDisputeOnLedger>;

/** Opens disputes on the ledger, as the job's controller. */
export function createDisputeOnLedger(context: LedgerContext) {
  return {
    /** The ledger's time in seconds, read now. @throws LedgerUnavailableError */
    readSeconds: (): Promise<bigint> => retryRead(context, () => context.clock.read()),
    /**
     * @param job.settlement_slot where it is known. A refusal by a node that has not reached it does
     *   not count
     * @throws ApiError service_unavailable when the ledger does not decide
     */
    async open(
      { address, wallet, settlement_slot }: Pick<JobRow, 'address' | 'wallet' | 'settlement_slot'>,
      clientHash: string,
    ): Promise<DisputeResult> {
      const job = new PublicKey(address);
      const instruction = jobDispute({
        ...actor(context),
        job,
        creditAccount: context.addresses.creditAccount(publicKeyOf(wallet)),
        clientHash: Buffer.from(clientHash, 'hex'),
      });
      for (let tries = 0; tries < TRIES_MAX; tries += 1) {
        const result = await context.exits.add({
          instructions: [instruction],
          costs: [COSTS.job_dispute],
          signers: [context.signer],
          key: wallet,
        });
        if (result.status === 'failed') {
          if (result.slot >= (settlement_slot ?? 0n)) return refused(result);
          // That node has not reached the settlement, or not even the lock.
          await delay(PAUSE_MS, undefined, context.time);
          continue;
        }
        const found = await readJob(context, job, result);
        if (result.status === 'landed' && found) {
          const arbitrationWindowSeconds = BigInt(found.arbitrationWindowSeconds);
          return { status: 'opened', signature: result.signature, arbitrationWindowSeconds };
        }
        // It never landed, and the job may have been disputed or closed in that time.
        if (!found) return { status: 'window closed' };
        if (found.status !== 'settled') return { status: 'already open' };
      }
      throw serviceUnavailable('The ledger did not take the dispute.');
    },
  };
}

function refused({ error }: Extract<SendResult, { status: 'failed' }>): DisputeResult {
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
