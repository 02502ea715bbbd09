import type { PublicKey } from '@solana/web3.js';
import { isEnded } from '../../programs/client/accounts.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import type { FailureReason, JobStatus } from '../../programs/client/generated/vocabulary.ts';
import type { RunningService } from '../service/runningService.ts';

/** A wallet's credits and jobs on the ledger, oldest first. */
interface WalletBooks {
  available: bigint;
  locked: bigint;
  jobs: { status: JobStatus; reason: FailureReason; charged: bigint }[];
}

type Ledger = Pick<RunningService, 'account' | 'jobs' | 'untilJobs'>;
type FoundJobs = Awaited<ReturnType<RunningService['jobs']>>;

const addresses = createAddresses();

export async function readBooks(service: Ledger, wallet: PublicKey): Promise<WalletBooks> {
  const { availableCredits, lockedCredits } = await service.account(wallet);
  const jobs = ofWallet(await service.jobs(), wallet).map(({ data }) => ({
    status: data.status,
    reason: data.failureReason,
    charged: data.chargedCredits,
  }));
  return { available: availableCredits, locked: lockedCredits, jobs };
}

/** Waits until the wallet has this many jobs. */
export async function untilLocked(service: Ledger, wallet: PublicKey, count: number) {
  await service.untilJobs((jobs) => ofWallet(jobs, wallet).length === count);
}

/**
 * Waits until this many of the wallet's jobs are at a worker. Only then does the API know that they
 * are locked; a test that moves the clock earlier would find it still waiting.
 */
export async function untilDispatched(service: Ledger, wallet: PublicKey, count: number) {
  await service.untilJobs((jobs) => {
    const own = ofWallet(jobs, wallet).map(({ data }) => data.status);
    return own.filter((status) => status === 'processing').length === count;
  });
}

/** Waits until the wallet has this many jobs and all have ended. @returns its state then */
export async function untilEnded(
  service: Ledger,
  wallet: PublicKey,
  count: number,
): Promise<WalletBooks> {
  await service.untilJobs((jobs) => {
    const own = ofWallet(jobs, wallet);
    return own.length === count && own.every(({ data }) => isEnded(data.status));
  });
  return readBooks(service, wallet);
}

/** Its jobs among those of all wallets, oldest first. */
export function ofWallet(jobs: FoundJobs, wallet: PublicKey): FoundJobs {
  const account = addresses.creditAccount(wallet);
  return jobs
    .filter(({ data }) => data.creditAccount.equals(account))
    .sort((one, other) => Buffer.compare(one.data.jobId, other.data.jobId));
}
