import { parseJobId } from '../../programs/client/jobId.ts';
import { publicKeyOf } from '../../programs/client/publicKeyOf.ts';
import { isEnded, JOB_STATUSES, type JobStatus, word } from '../../programs/client/vocabulary.ts';
import type { Database } from '../../runtime/postgres.ts';
import { selectJob } from '../statements/jobs.ts';
import { askNode, type LedgerContext, readJob } from './context.ts';

/**
 * Where a wallet's job stands. `closed`: the ledger had it and has it no more, and the mirror does
 * not tell yet how it ended.
 */
export type JobStanding = JobStatus | 'closed';

/**
 * Tells where a wallet's job stands: in the mirror when it has ended there, else on the ledger,
 * which is never behind; undefined when neither ever had it.
 */
export function createStatusLookup(options: { database: Database; context: LedgerContext }) {
  const { database, context } = options;
  const { addresses, connection, commitment } = context;
  return async (key: { wallet: string; jobId: string }): Promise<JobStanding | undefined> => {
    const mirrored = (await selectJob(database, key))?.status as JobStatus | undefined;
    if (mirrored && isEnded(mirrored)) return mirrored;
    const bytes = parseJobId(key.jobId);
    if (!bytes) return mirrored;
    const address = addresses.job(addresses.creditAccount(publicKeyOf(key.wallet)), bytes);
    const job = await readJob(context, address, { slot: 0, signature: null });
    if (job) return word(JOB_STATUSES, job.status);
    const traces = await askNode(() => connection.getSignaturesForAddress(address, {}, commitment));
    // Anybody may close a job that is over, also while the indexer is away.
    return traces.some(({ err }) => err === null) ? 'closed' : mirrored;
  };
}
