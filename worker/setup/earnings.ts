import type { PublicKey } from '@solana/web3.js';
import type { Addresses } from '../../programs/client/addresses.ts';
import type { JobCompleted, JobSettled } from '../../programs/client/generated/types.ts';
import { areKeysEqual } from '../../programs/client/keys.ts';
import type { LedgerConnection } from '../../programs/client/ledgerConnection.ts';
import {
  createLedgerReader,
  type LedgerReader,
} from '../../programs/client/verify/job/ledgerReader.ts';

/** One settled job. */
export interface Earning {
  /** A day of UTC. */
  readonly day: string;
  /** The catalog id that the client locked for. */
  readonly model: string;
  readonly baseUnits: bigint;
  readonly completionTokens: number;
}

/** Earnings, and whether the ledger has more in the same time than were read. */
export interface Earnings {
  readonly earnings: readonly Earning[];
  readonly isCutOff: boolean;
}

const DAY_CHARACTERS = 10;

/**
 * Reads what a worker earned from the ledger's history alone.
 *
 * @param range.sinceSeconds the ledger's time of the oldest settlement that counts
 * @param range.jobsMax each job costs several requests to the node
 */
export async function readEarnings(
  { connection, addresses }: { connection: LedgerConnection; addresses: Addresses },
  worker: PublicKey,
  range: { sinceSeconds: number; jobsMax: number },
): Promise<Earnings> {
  const reader = createLedgerReader(connection, addresses.programId);
  const earnings: Earning[] = [];
  for await (const settled of settlementsOf(reader, worker)) {
    if (Number(settled.unixTime) < range.sinceSeconds) break;
    if (earnings.length === range.jobsMax) return { earnings, isCutOff: true };
    earnings.push({
      day: new Date(Number(settled.unixTime) * 1_000).toISOString().slice(0, DAY_CHARACTERS),
      model: await modelOf(reader, settled.job),
      baseUnits: settled.workerBaseUnits,
      completionTokens: Math.min(settled.completionTokens, settled.countedTokens),
    });
  }
  return { earnings, isCutOff: false };
}

/** Newest first. */
async function* settlementsOf(
  reader: LedgerReader,
  worker: PublicKey,
): AsyncGenerator<JobSettled | JobCompleted> {
  for await (const found of reader.history(worker)) {
    if (!('transaction' in found)) continue;
    for (const event of found.transaction.events) {
      if (event.name !== 'JobSettled' && event.name !== 'JobCompleted') continue;
      if (areKeysEqual(event.data.worker, worker)) yield event.data;
    }
  }
}

/** The lock alone names the model, and the account of a job is closed soon after its end. */
async function modelOf(reader: LedgerReader, job: PublicKey): Promise<string> {
  for await (const found of reader.history(job)) {
    if (!('transaction' in found)) continue;
    for (const event of found.transaction.events) {
      if (event.name !== 'JobLocked' || !areKeysEqual(event.data.job, job)) continue;
      return event.data.modelId;
    }
  }
  return 'unknown';
}
