import { parseJobId } from '../../programs/client/jobId.ts';
import { publicKeyOf } from '../../programs/client/publicKeyOf.ts';
import { isEnded, JOB_STATUSES, type JobStatus, word } from '../../programs/client/vocabulary.ts';
import type { Database } from '../../runtime/postgres.ts';
import { selectJob } from '../statements/jobs.ts';
import { type LedgerContext, readJob } from './context.ts';

/**
 * Tells where a wallet's job stands: in the mirror when it has ended there, else on the ledger,
 * which is never behind; undefined when neither has it.
 */
export function createStatusLookup(options: { database: Database; context: LedgerContext }) {
  const { database, context } = options;
  return async (key: { wallet: string; jobId: string }): Promise<JobStatus | undefined> => {
    const mirrored = (await selectJob(database, key))?.status as JobStatus | undefined;
    if (mirrored && isEnded(mirrored)) return mirrored;
    const bytes = parseJobId(key.jobId);
    if (!bytes) return mirrored;
    const { addresses } = context;
    const address = addresses.job(addresses.creditAccount(publicKeyOf(key.wallet)), bytes);
    const job = await readJob(context, address, 0);
    return job ? word(JOB_STATUSES, job.status) : mirrored;
  };
}
