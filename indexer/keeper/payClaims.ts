import { PublicKey } from '@solana/web3.js';
import { claimPay } from '../../programs/client/instructions/index.ts';
import { type Duty, TASKS_MAX } from './duty.ts';

/** Pays what settlements and verdicts could only note down. */
export function payClaims(programId: PublicKey): Duty {
  return {
    name: 'claim_pay',
    tasksPerTransaction: 1,
    computeUnitLimitEach: 40_000,
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
          ...(payout !== null && { workerPayout: new PublicKey(payout) }),
        }),
      }));
    },
  };
}
