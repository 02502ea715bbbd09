import { PublicKey } from '@solana/web3.js';
import type { LedgerConnection } from '../../programs/client/ledgerConnection.ts';
import { conclude } from '../../programs/client/verify/check.ts';
import type { ClientEvidence } from '../../programs/client/verify/job/evidence.ts';
import { gatherEvidence } from '../../programs/client/verify/job/gatherEvidence.ts';
import { verifyJob } from '../../programs/client/verify/job/verifyJob.ts';
import { addresses } from '../../testing/ledger/jobScene.ts';
import type { ExpectedVerdict } from './cases.ts';

/** A node that answers from memory is asked again at once. */
const atOnce = async () => {};

/** What our verification says of a job. */
export async function verdictOf(
  connection: LedgerConnection,
  job: string,
  client: ClientEvidence = {},
): Promise<ExpectedVerdict> {
  const found = { connection, addresses, job: new PublicKey(job), wait: atOnce };
  const { checks } = verifyJob(await gatherEvidence(found), client);
  const named = (verdict: string) =>
    checks.filter((check) => check.verdict === verdict).map(({ name }) => name);
  return {
    result: conclude(checks),
    failing: named('fails'),
    not_checkable: named('not_checkable'),
  };
}
