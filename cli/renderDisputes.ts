import Table from 'cli-table3';
import { isoTime, sha256Text } from '../common/jsonForms.ts';
import type { DisputeRow } from './selectDisputes.ts';
import { COMPACT } from './tableStyle.ts';

const HOW_TO_DECIDE =
  'Decide with npx svc send dispute_resolve: docs/deploying.md#9-day-to-day. The ledger records no ' +
  'grounds before a verdict: the text and its receipt, or two proofs, are with whoever disputes.';

/**
 * Disputes, each as a table of its own: addresses and hashes side by side fit no screen.
 *
 * @param nowSeconds the ledger's time
 */
export function renderDisputes(disputes: readonly DisputeRow[], nowSeconds: bigint): string {
  const tables = disputes.map((dispute) => {
    const table = new Table({ style: COMPACT });
    table.push(...fieldsOf(dispute, nowSeconds));
    return table.toString();
  });
  const open = disputes.filter(({ outcome }) => outcome === null).length;
  const closing = open === 0 ? 'No dispute is open.' : `Open disputes: ${open}. ${HOW_TO_DECIDE}`;
  return [...tables, closing].join('\n');
}

/** By the names that dispute_resolve and the API give them; what is not there is left out. */
function fieldsOf(dispute: DisputeRow, nowSeconds: bigint): [name: string, value: string][] {
  const { outcome, resolved_at, evidence_hash, arbitration_ends_at: endsAt } = dispute;
  const fields: [string, string | null][] = [
    ['status', outcome ?? 'open'],
    ['job_id', dispute.job_id],
    ['job', dispute.address],
    ['credit_account', dispute.credit_account],
    ['worker', dispute.worker],
    ['controller', `${dispute.controller}, ${dispute.is_of_gateway ? 'a gateway' : 'no gateway'}`],
    ['wallet', dispute.wallet],
    ['model', dispute.model_id],
    ['credits_charged', `${dispute.charged_credits}`],
    ['your_hash', sha256Text(dispute.client_hash)],
    ['worker_hash', sha256Text(dispute.output_hash)],
    ['dispute_tx', dispute.dispute_tx],
    ['opened_at', isoTime(dispute.disputed_at)],
    ['arbitration_ends_at', isoTime(endsAt)],
    ['left', outcome === null ? timeLeft(endsAt - nowSeconds) : null],
    ['resolved_at', resolved_at === null ? null : isoTime(resolved_at)],
    ['resolution_tx', dispute.resolution_tx],
    ['evidence', evidence_hash === null ? null : sha256Text(evidence_hash)],
  ];
  return fields.flatMap(([name, value]) => (value === null ? [] : [[name, value]]));
}

function timeLeft(seconds: bigint): string {
  if (seconds < 0n) return 'none: it expires';
  return `${seconds / 3_600n} h ${(seconds % 3_600n) / 60n} min`;
}
