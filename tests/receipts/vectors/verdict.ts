import { PublicKey } from '@solana/web3.js';
import type { LedgerConnection } from '../../../programs/client/ledgerConnection.ts';
import { type Check, conclude } from '../../../programs/client/verify/check.ts';
import { gatherModel } from '../../../programs/client/verify/job/cardRules.ts';
import type { ClientEvidence } from '../../../programs/client/verify/job/clientEvidence.ts';
import { gatherEvidence } from '../../../programs/client/verify/job/gatherEvidence.ts';
import { verifyJob } from '../../../programs/client/verify/job/verifyJob.ts';
import { addresses } from '../../../testing/ledger/jobScene.ts';
import type { ExpectedVerdict } from './cases.ts';

/** A node that answers from memory is asked again at once. */
const atOnce = async () => {};

/** What our verification finds of a job. */
export async function checksOf(
  connection: LedgerConnection,
  job: string,
  client: ClientEvidence = {},
): Promise<readonly Check[]> {
  const asked = { connection, addresses, job: new PublicKey(job), wait: atOnce };
  const evidence = await gatherEvidence(asked);
  const isAboutModel = client.card !== undefined || client.request !== undefined;
  const historyMax = client.card === undefined ? { historyMax: 0 } : {};
  const whole = isAboutModel
    ? await gatherModel({ connection, evidence, ...historyMax })
    : evidence;
  return verifyJob(whole, client).checks;
}

/** The same as a file has it. */
export function asExpected(checks: readonly Check[]): ExpectedVerdict {
  const named = (verdict: string) =>
    checks.filter((check) => check.verdict === verdict).map(({ name }) => name);
  return {
    result: conclude(checks),
    failing: named('fails'),
    not_checkable: named('not_checkable'),
  };
}
