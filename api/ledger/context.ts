import type { Connection, Keypair, PublicKey } from '@solana/web3.js';
import { fetchJob } from '../../programs/client/accounts.ts';
import type { Addresses } from '../../programs/client/addresses.ts';
import type { Batcher } from '../../programs/client/sender/batcher.ts';
import type { LedgerClock } from '../../programs/client/sender/ledgerClock.ts';
import type { Sender } from '../../programs/client/sender/sender.ts';
import type { Job } from '../../programs/client/types.ts';
import type { Background } from '../../runtime/background.ts';
import type { Logger } from '../../runtime/logger.ts';

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

/** The Job as of `slot` or later; null when it does not exist there. */
export function readJob(
  context: LedgerContext,
  address: PublicKey,
  slot: number,
): Promise<Job | null> {
  const { connection, commitment, addresses } = context;
  const { programId } = addresses;
  return fetchJob(connection, address, { commitment, minContextSlot: slot, programId });
}

/** The accounts and keys that identify us as the controller. */
export function actor(context: LedgerContext) {
  return {
    programId: context.addresses.programId,
    signer: context.signer.publicKey,
    gateway: context.gateway,
  };
}
