import { PublicKey } from '@solana/web3.js';
import { jobRefund } from '../../programs/client/instructions/index.ts';
import { type Duty, TASKS_MAX } from './duty.ts';

/** Gives a wallet its credits back when no worker has completed the job in time. */
export function refundOverdueJobs(programId: PublicKey): Duty {
  return {
    name: 'job_refund',
    tasksPerTransaction: 20,
    computeUnitLimitEach: 8_000,
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
