import type { PublicKey } from '@solana/web3.js';
import type { Addresses } from '../../addresses.ts';
import { JOB_ID_AGE_MS_MAX, JOB_ID_LEAD_MS_MAX } from '../../generated/constants.ts';
import { jobIdTimeMs } from '../../jobId.ts';
import type { LedgerConnection } from '../../ledgerConnection.ts';
import { areBytesEqual } from '../../platform/bytes.ts';
import { placeEvents } from './evidence.ts';
import { createLedgerReader, listSuccessful, READS_AT_ONCE } from './ledgerReader.ts';

/** How far a history is searched for a job's lock. */
export interface SearchBounds {
  /** The most transactions that are listed, from now back to the id's time. */
  readonly listedMax: number;
  /** The most transactions of that time that are read. */
  readonly readMax: number;
}

/** The named job cannot be located; the message says what would locate it. */
export class JobNotLocatedError extends Error {
  override name = 'JobNotLocatedError';
}

/**
 * Finds the jobs that an id was locked for, open or closed, in the program's history. An id has its
 * time, and the program takes it only around that time. Each lock names the program's configuration.
 *
 * @returns their addresses: one for each wallet that locked a job of this id
 * @throws JobNotLocatedError when more would have to be listed, or read, than is allowed
 */
export async function findLocks(options: {
  connection: LedgerConnection;
  addresses: Addresses;
  jobId: Uint8Array;
  search: SearchBounds;
}): Promise<PublicKey[]> {
  const { connection, addresses, jobId, search } = options;
  const idMs = jobIdTimeMs(jobId);
  const from = Math.floor((idMs - JOB_ID_LEAD_MS_MAX) / 1_000);
  const to = Math.ceil((idMs + JOB_ID_AGE_MS_MAX) / 1_000);
  const signatures: string[] = [];
  let listed = 0;
  for await (const { signature, blockTime } of listSuccessful(connection, addresses.config)) {
    // A node may not know a block's time.
    if (blockTime !== undefined && blockTime < from) break;
    listed += 1;
    if (listed > search.listedMax) throw tooMany(search.listedMax, 'since');
    if (blockTime !== undefined && blockTime > to) continue;
    signatures.push(signature);
    if (signatures.length > search.readMax) {
      throw tooMany(search.readMax, 'at its time (--history-max)');
    }
  }
  const { read } = createLedgerReader(connection, addresses.programId);
  const jobs = new Map<string, PublicKey>();
  for (let at = 0; at < signatures.length; at += READS_AT_ONCE) {
    for (const found of await Promise.all(signatures.slice(at, at + READS_AT_ONCE).map(read))) {
      if ('unread' in found) continue;
      for (const { name, data } of placeEvents(found.transaction)) {
        const isLock = name === 'JobLocked' && areBytesEqual(data.jobId, jobId);
        if (isLock) jobs.set(data.job.toBase58(), data.job);
      }
    }
  }
  return [...jobs.values()];
}

const tooMany = (max: number, when: string) =>
  new JobNotLocatedError(
    `No account has this job id. The program had more than ${max} transactions ${when}. Name its wallet: --wallet.`,
  );
