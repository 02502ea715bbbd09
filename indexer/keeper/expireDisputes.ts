import { PublicKey } from '@solana/web3.js';
import { disputeExpire } from '../../programs/client/instructions/index.ts';
import { type Duty, TASKS_MAX } from './duty.ts';

/** Ends disputes that the arbiter has left undecided. */
export function expireDisputes(programId: PublicKey): Duty {
  return {
    name: 'dispute_expire',
    tasksPerTransaction: 10,
    computeUnitLimitEach: 12_000,
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
