import { randomBytes } from 'node:crypto';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import type { Sender } from '../../programs/client/sender/sender.ts';
import type { Database } from '../../runtime/postgres.ts';

/** Position of the job among the accounts of `job_settle`, which comes last in its transaction. */
const SETTLED_JOB_INDEX = 3;
const SIGNATURE_BYTES = 64;

/**
 * Takes every transaction for confirmed at once, and shows a settled job in the mirror as the
 * indexer would: what is left of a request's time and work is the API's own.
 */
export function createDoubledSender(database: Database): Sender {
  const feePayer = Keypair.generate().publicKey;
  return {
    async send({ instructions, lane }) {
      const signature = bs58.encode(randomBytes(SIGNATURE_BYTES));
      const sent = typeof instructions === 'function' ? instructions(feePayer) : instructions;
      const job = sent.at(-1)?.keys[SETTLED_JOB_INDEX]?.pubkey.toBase58();
      if (lane === 'settlements' && job) await mirrorSettlement(database, job, signature);
      return { status: 'confirmed', signature, slot: 1 };
    },
    close: () => undefined,
  };
}

/** The row of a settled job, as far as the API reads it, and the notice that it is there. */
async function mirrorSettlement(database: Database, job: string, signature: string): Promise<void> {
  await database.query({
    name: 'mirror_settlement',
    text: `
      with settled as (
        insert into mirror.jobs (
          address, job_id, credit_account, wallet, controller, model, model_id, tier, status,
          attempt, token_limit, credits_per_request, credits_per_1k_tokens,
          long_completion_threshold_tokens, treasury_share_basis_points, slash_tokens,
          job_timeout_seconds, dispute_window_seconds, arbitration_window_seconds, rent_payer,
          locked_credits, charged_credits, locked_at, settled_at, ended_at, escrow_tx, escrow_slot,
          settlement_tx, settlement_slot, closed, sequence)
        select
          $1, $1, account.address, account.wallet, '', model.address, model.id, model.tier,
          'settled', 1, 2000, model.credits_per_request, model.credits_per_1k_tokens,
          model.long_completion_threshold_tokens, 1500, 500, 120, 60, 86400, '', 8, 8, 1, 1, 1,
          $2, 1, $2, 1, false, 1
        from mirror.credit_accounts account, mirror.models model
        limit 1)
      select pg_notify('mirror_jobs', $1)`,
    values: [job, signature],
  });
}
