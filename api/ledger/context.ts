import type { Connection, Keypair, PublicKey } from '@solana/web3.js';
import { fetchJob } from '../../programs/client/accounts.ts';
import type { Addresses } from '../../programs/client/addresses.ts';
import { answered } from '../../programs/client/sender/answered.ts';
import type { Batcher } from '../../programs/client/sender/batcher.ts';
import type { LedgerClock } from '../../programs/client/sender/ledgerClock.ts';
import { LedgerUnavailableError } from '../../programs/client/sender/outcome.ts';
import type { Sender } from '../../programs/client/sender/sender.ts';
import type { Job } from '../../programs/client/types.ts';
import type { Background } from '../../runtime/background.ts';
import type { Logger } from '../../runtime/logger.ts';
import { delay } from '../../runtime/wait.ts';

/** A node that is away, or behind its neighbours, is usually not for long. */
const READS_MAX = 5;
const READ_PAUSE_MS = 500;

/** What every instruction of the API needs to reach the ledger. */
export interface LedgerContext {
  connection: Connection;
  commitment: 'confirmed' | 'finalized';
  addresses: Addresses;
  /** The Gateway account: the controller of our jobs. */
  gateway: PublicKey;
  /** The hot signer that acts for it. */
  signer: Keypair;
  sender: Sender;
  locks: Batcher;
  acknowledgements: Batcher;
  /** Failures, refunds and disputes: numbers only, so several share a transaction. */
  exits: Batcher;
  /** Locks that came too late for their requests, until each is taken back. */
  lateLocks: Background;
  clock: LedgerClock;
  logger: Logger;
}

/**
 * The Job once a transaction about it has ended: as of that slot or later; null when it does not
 * exist there. Asks again while nobody tells.
 *
 * @throws LedgerUnavailableError with the transaction's signature
 */
export async function readJob(
  context: LedgerContext,
  address: PublicKey,
  ended: { slot: number; signature: string | null },
): Promise<Job | null> {
  const { connection, commitment, addresses } = context;
  const { programId } = addresses;
  const { slot: minContextSlot, signature } = ended;
  for (let reads = 1; ; reads += 1) {
    try {
      return await answered(
        fetchJob(connection, address, { commitment, minContextSlot, programId }),
      );
    } catch (cause) {
      if (reads === READS_MAX) {
        throw new LedgerUnavailableError('No node tells where a job stands', { signature, cause });
      }
    }
    await delay(READ_PAUSE_MS);
  }
}

/**
 * What a node answers, in bounded time.
 *
 * @throws LedgerUnavailableError when it does not; nothing was sent by asking
 */
export async function askNode<Answer>(request: Promise<Answer>): Promise<Answer> {
  try {
    return await answered(request);
  } catch (cause) {
    throw new LedgerUnavailableError('No node answers', { signature: null, cause });
  }
}

/** For `catch`: undefined where the ledger was out of reach; throws anything else. */
export function unlessAway(error: unknown): undefined {
  if (!(error instanceof LedgerUnavailableError)) throw error;
  return undefined;
}

/** The accounts and keys that identify us as the controller. */
export function actor(context: LedgerContext) {
  return {
    programId: context.addresses.programId,
    signer: context.signer.publicKey,
    gateway: context.gateway,
  };
}
