import { PublicKey } from '@solana/web3.js';
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

/** Repays the rent of jobs that are over. */
function closeJobs(programId: PublicKey): Duty {
  return {
    name: 'job_close',
    cost: COSTS.job_close,
    supersededBy: ['WrongAccountOwner'],
    retryMs: 60_000,
    async find(database, { nowSeconds, exceptAddresses }) {
      const { rows } = await database.query<{ address: string; rent_payer: string }>({
        text: `
          select address, rent_payer from mirror.jobs
          where status in ('settled', 'failed', 'refunded') and not closed
            and ended_at + dispute_window_seconds < $1
            and locked_at + $2 < $1 and address <> all($3)
          order by ended_at limit $4`,
        values: [nowSeconds, KEPT_SECONDS, exceptAddresses, TASKS_MAX],
      });
      return rows.map(({ address, rent_payer }) => ({
        address,
        instruction: jobClose({
          programId,
          job: new PublicKey(address),
          rentPayer: new PublicKey(rent_payer),
        }),
      }));
    },
  };
}

/** Ends disputes that the arbiter has left undecided. */
function expireDisputes(programId: PublicKey): Duty {
  return {
    name: 'dispute_expire',
    cost: COSTS.dispute_expire,
    supersededBy: ['WrongJobStatus', 'WrongAccountOwner'],
    retryMs: 60_000,
    async find(database, { nowSeconds, exceptAddresses }) {
      const { rows } = await database.query<{ address: string; credit_account: string }>({
        text: `
          select address, credit_account from mirror.jobs
          where status = 'disputed' and arbitration_ends_at < $1 and address <> all($2)
          order by arbitration_ends_at limit $3`,
        values: [nowSeconds, exceptAddresses, TASKS_MAX],
      });
      return rows.map(({ address, credit_account }) => ({
        address,
        instruction: disputeExpire({
          programId,
          job: new PublicKey(address),
          creditAccount: new PublicKey(credit_account),
        }),
      }));
    },
  };
}

/** Pays what settlements and verdicts could only record. */
function payClaims(programId: PublicKey): Duty {
  return {
    name: 'claim_pay',
    cost: COSTS.claim_pay,
    tasksMax: 1,
    supersededBy: [],
    // Most likely the payee has closed its account, or the treasury is empty.
    retryMs: 600_000,
    async find(database, { exceptAddresses }) {
      const { rows } = await database.query<{ address: string; payout: string | null }>({
        text: `
          select * from (
            select address, payout from mirror.workers where claimable_base_units > 0
            union all
            select address, null from mirror.credit_accounts where owed_credits > 0
            union all
            select address, null from mirror.treasury where unpaid_base_units > 0
          ) claims (address, payout)
          where address <> all($1) limit $2`,
        values: [exceptAddresses, TASKS_MAX],
      });
      return rows.map(({ address, payout }) => ({
        address,
        instruction: claimPay({
          programId,
          claimant: new PublicKey(address),
          payout: payout === null ? undefined : new PublicKey(payout),
        }),
      }));
    },
  };
}

/** Gives a wallet its credits back when no worker has completed the job in time. */
function refundOverdueJobs(programId: PublicKey): Duty {
  return {
    name: 'job_refund',
    cost: COSTS.job_refund,
    supersededBy: ['WrongJobStatus', 'WrongAccountOwner'],
    // Refunds are promised within seconds.
    retryMs: 5_000,
    async find(database, { nowSeconds, exceptAddresses }) {
      const { rows } = await database.query<{ address: string; credit_account: string }>({
        text: `
          select address, credit_account from mirror.jobs
          where status in ('pending', 'processing', 'settling')
            and locked_at + job_timeout_seconds < $1 and address <> all($2)
          order by locked_at limit $3`,
        values: [nowSeconds, exceptAddresses, TASKS_MAX],
      });
      return rows.map(({ address, credit_account }) => ({
        address,
        instruction: jobRefund({
          programId,
          job: new PublicKey(address),
          creditAccount: new PublicKey(credit_account),
        }),
      }));
    },
  };
}

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
  const keepers = [refundOverdueJobs, expireDisputes, closeJobs, payClaims].map((createDuty) => {
    const duty = createDuty(programId);
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
