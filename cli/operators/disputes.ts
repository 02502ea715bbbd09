import Table from 'cli-table3';
import { Command } from 'commander';
import type pg from 'pg';
import { isoTime, sha256Text } from '../../common/format.ts';
import type { Database } from '../../common/postgres.ts';
import type { DisputeOutcome } from '../../programs/client/generated/vocabulary.ts';
import { COMPACT } from '../terminal/output.ts';
import { withDatabase } from './database.ts';

/** A disputed job in the mirror. Times are ledger seconds, hashes are hex. */
interface DisputeRow {
  readonly address: string;
  readonly job_id: string;
  readonly wallet: string;
  readonly credit_account: string;
  readonly worker: string;
  readonly controller: string;
  /** Whether a Gateway charged; otherwise the wallet itself did. */
  readonly is_of_gateway: boolean;
  readonly model_id: string;
  readonly charged_credits: bigint;
  readonly client_hash: string;
  readonly output_hash: string;
  readonly disputed_at: bigint;
  readonly arbitration_ends_at: bigint;
  readonly dispute_tx: string;
  /** Null while the dispute is open. */
  readonly outcome: DisputeOutcome | null;
  readonly resolved_at: bigint | null;
  readonly resolution_tx: string | null;
  /** The sha256 of the arbiter's evidence. */
  readonly evidence_hash: string | null;
}

/**
 * All open disputes, the most urgent first: a limit would let one wallet hide those of the others. Then
 * at most so many decided ones, newest first.
 */
async function selectDisputes(database: Database, decidedMax: number): Promise<DisputeRow[]> {
  const { rows } = await database.query<DisputeRow>(
    `select job.address, job_id, wallet, credit_account, worker, controller,
       gateway.address is not null as is_of_gateway, model_id, charged_credits, client_hash,
       output_hash, disputed_at, arbitration_ends_at, dispute_tx, outcome, resolved_at,
       resolution_tx, (
         select data ->> 'evidenceHash' from mirror.journal
         where signature = resolution_tx and event_name = 'DisputeResolved'
           and data ->> 'job' = job.address
       ) as evidence_hash
     from mirror.jobs job
     left join mirror.gateways gateway on gateway.address = controller
     where status = 'disputed' or ($1 > 0 and outcome is not null)
     order by outcome is not null, case when outcome is null then arbitration_ends_at end,
       resolved_at desc, job.address
     limit (select count(*) from mirror.jobs where status = 'disputed') + $1::integer`,
    [decidedMax],
  );
  return rows;
}

/**
 * The newest ledger time among the mirror's jobs, in seconds, or null without any. The ledger may be
 * ahead of it.
 */
async function selectNewestTime(database: Database): Promise<bigint | null> {
  // Each of these has an index; the journal is newer, but has no index by time.
  const { rows } = await database.query<{ newest: bigint | null }>(
    `select greatest(
       (select max(locked_at) from mirror.jobs where status in ('pending', 'processing', 'settling')),
       (select max(ended_at) from mirror.jobs
        where status in ('settled', 'failed', 'refunded') and not closed),
       (select max(disputed_at) from mirror.jobs where status = 'disputed')
     ) as newest`,
  );
  return rows[0]?.newest ?? null;
}

const HOW_TO_DECIDE =
  'Decide with npx svc send dispute_resolve: docs/operating.md#day-to-day. A verdict for the ' +
  'client needs its evidence, which the ledger does not have: a receipt, or a second proof.';

/**
 * Disputes, each in its own table: addresses and hashes side by side would be too wide.
 *
 * @param nowSeconds the ledger's time
 */
function renderDisputes(disputes: readonly DisputeRow[], nowSeconds: bigint): string {
  const tables = disputes.map((dispute) => {
    const table = new Table({ style: COMPACT });
    table.push(...fieldsOf(dispute, nowSeconds));
    return table.toString();
  });
  const open = disputes.filter(({ outcome }) => outcome === null).length;
  const closing = open === 0 ? 'No dispute is open.' : `Open disputes: ${open}. ${HOW_TO_DECIDE}`;
  return [...tables, closing].join('\n');
}

/** The fields under the names of dispute_resolve and the API, without absent ones. */
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

/** Decided disputes that are shown. */
const DECIDED_MAX = 100;

/** `svc disputes`: for the arbiter, who has 24 hours for each and decides with `svc send`. */
export function createDisputesCommand(): Command {
  const disputes = new Command('disputes').description('list what the arbiter has to decide');
  disputes
    .command('list')
    .description('open disputes, the most urgent first')
    .option('--all', `then the decided ones, newest first, up to ${DECIDED_MAX}`)
    .action(({ all }: { all?: true }) => withDatabase((pool) => showDisputes(pool, all === true)));
  return disputes;
}

async function showDisputes(pool: pg.Pool, decided: boolean): Promise<void> {
  const disputes = await selectDisputes(pool, decided ? DECIDED_MAX : 0);
  console.log(renderDisputes(disputes, await ledgerSeconds(pool)));
}

/** Without new jobs the mirror's newest time does not advance, so this machine's clock counts too. */
async function ledgerSeconds(pool: pg.Pool): Promise<bigint> {
  const mirrored = (await selectNewestTime(pool)) ?? 0n;
  const here = BigInt(Math.floor(Date.now() / 1_000));
  return mirrored > here ? mirrored : here;
}
