import { PublicKey, type TransactionInstruction } from '@solana/web3.js';
import type { Logger } from '../../common/logger.ts';
import type { Database } from '../../common/postgres.ts';
import {
  JOB_ID_CLOSE_MS_MIN,
  JOB_ID_LEAD_MS_MAX,
} from '../../programs/client/generated/constants.ts';
import {
  claimPay,
  disputeExpire,
  jobClose,
  jobRefund,
} from '../../programs/client/instructions.ts';
import {
  type Batcher,
  COSTS,
  createBatcher,
  type LedgerClock,
  type Sender,
} from '../../programs/client/sender/index.ts';
import type { IndexerMetrics } from '../telemetry/metrics.ts';
import { createKeeper, type Duty, type Keeper, TASKS_MAX } from './keeper.ts';

/** A job's id may be ahead of its lock, and its account stays for a while after the id's time. */
const KEPT_SECONDS = (JOB_ID_LEAD_MS_MAX + JOB_ID_CLOSE_MS_MIN) / 1000;

/** What the duties read of the mirror. */
interface DueRow {
  readonly address: string;
  readonly creditAccount: string;
  readonly rentPayer: string;
  readonly payout: string | null;
}

/**
 * A duty whose tasks are the rows of a statement. Its parameters are the ledger's seconds, the addresses
 * to leave out, and how many rows at most.
 */
function dutyOf(
  plan: Omit<Duty, 'find'> & { text: string; instruct(row: DueRow): TransactionInstruction },
): Duty {
  const { text, instruct, ...duty } = plan;
  return {
    ...duty,
    async find(database, { nowSeconds, exceptAddresses }) {
      const values = [nowSeconds, exceptAddresses, TASKS_MAX];
      const { rows } = await database.query<DueRow>(text, values);
      return rows.map((row) => ({ address: row.address, instruction: instruct(row) }));
    },
  };
}

/** Makes an instruction that takes a job, and the account that its credits go back to. */
const ofJob =
  (programId: PublicKey, make: typeof jobRefund | typeof disputeExpire) =>
  ({ address, creditAccount }: DueRow): TransactionInstruction =>
    make({ programId, job: new PublicKey(address), creditAccount: new PublicKey(creditAccount) });

const dutiesOf = (programId: PublicKey): Duty[] => [
  // Gives a wallet its credits back when no worker has completed the job in time.
  dutyOf({
    name: 'job_refund',
    cost: COSTS.job_refund,
    supersededBy: ['WrongJobStatus', 'WrongAccountOwner'],
    // Refunds are promised within seconds.
    retryMs: 5_000,
    text: `
      select address, credit_account as "creditAccount" from mirror.jobs
      where status in ('pending', 'processing', 'settling')
        and locked_at + job_timeout_seconds < $1 and address <> all($2)
      order by locked_at limit $3`,
    instruct: ofJob(programId, jobRefund),
  }),
  // Ends disputes that the arbiter has left undecided.
  dutyOf({
    name: 'dispute_expire',
    cost: COSTS.dispute_expire,
    supersededBy: ['WrongJobStatus', 'WrongAccountOwner'],
    retryMs: 60_000,
    text: `
      select address, credit_account as "creditAccount" from mirror.jobs
      where status = 'disputed' and arbitration_ends_at < $1 and address <> all($2)
      order by arbitration_ends_at limit $3`,
    instruct: ofJob(programId, disputeExpire),
  }),
  // Repays the rent of jobs that are over.
  dutyOf({
    name: 'job_close',
    cost: COSTS.job_close,
    supersededBy: ['WrongAccountOwner'],
    retryMs: 60_000,
    text: `
      select address, rent_payer as "rentPayer" from mirror.jobs
      where status in ('settled', 'failed', 'refunded') and not closed
        and ended_at + dispute_window_seconds < $1
        and locked_at + ${KEPT_SECONDS} < $1 and address <> all($2)
      order by ended_at limit $3`,
    instruct: ({ address, rentPayer }) =>
      jobClose({ programId, job: new PublicKey(address), rentPayer: new PublicKey(rentPayer) }),
  }),
  // Pays what settlements and verdicts could only record. It is due at any time, so the statement only
  // takes the seconds.
  dutyOf({
    name: 'claim_pay',
    cost: COSTS.claim_pay,
    tasksMax: 1,
    supersededBy: [],
    // Most likely the payee has closed its account, or the treasury is empty.
    retryMs: 600_000,
    text: `
      select * from (
        select address, payout from mirror.workers where claimable_base_units > 0
        union all
        select address, null from mirror.credit_accounts where owed_credits > 0
        union all
        select address, null from mirror.treasury where unpaid_base_units > 0
      ) claims (address, payout)
      where $1::bigint is not null and address <> all($2) limit $3`,
    instruct: ({ address, payout }) =>
      claimPay({
        programId,
        claimant: new PublicKey(address),
        payout: payout === null ? undefined : new PublicKey(payout),
      }),
  }),
];

/** No client waits for a keeper, so its tasks may gather for a while. */
const LINGER_MS = 50;

/** One keeper for each duty, all paying from the same crank. */
export function createKeepers(options: {
  programId: PublicKey;
  database: Database;
  sender: Sender;
  clock: LedgerClock;
  logger: Logger;
  metrics: Pick<IndexerMetrics, 'duty' | 'due'>;
  nowMs: () => number;
}): { keepers: Keeper[]; close(): void } {
  const { programId, sender } = options;
  const batchers: Batcher[] = [];
  const keepers = dutiesOf(programId).map((duty) => {
    const { tasksMax } = duty;
    const room = tasksMax === undefined ? {} : { itemsMax: tasksMax };
    const batcher = createBatcher({ sender, lingerMs: LINGER_MS, ...room });
    batchers.push(batcher);
    return createKeeper({ ...options, duty, batcher });
  });
  return {
    keepers,
    close() {
      for (const batcher of batchers) batcher.close();
    },
  };
}
