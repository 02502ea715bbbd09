import { PublicKey } from '@solana/web3.js';
import { jobClose } from '../../programs/client/instructions/index.ts';
import { type Duty, TASKS_MAX } from './duty.ts';

/** A job's id may be 30 s ahead of its lock, and an account stays for 120 s after its id's time. */
const KEPT_SECONDS = 150;

/** Repays the rent of jobs that are over. */
export function closeJobs(programId: PublicKey): Duty {
  return {
    name: 'job_close',
    tasksPerTransaction: 20,
    computeUnitLimitEach: 4_000,
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
