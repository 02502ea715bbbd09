import pg from 'pg';
import { batched } from '../../common/postgres.ts';
import { endWithParent } from '../../common/shutdown.ts';
import { MIRRORING, SETTLED } from './processes.ts';

// Writes settled jobs to the mirror as soon as the stubbed ledger announces them, as the indexer does.
// It writes the columns that the API reads, and notifies.

const connection = { connectionString: process.env.DATABASE_URL, application_name: MIRRORING };
const [hints, database] = [new pg.Client(connection), new pg.Client(connection)];
await hints.connect();
await database.connect();

const mirror = batched<string, void>({
  itemsMax: 64,
  callsMax: 1,
  call: async (jobs) => {
    await database.query({
      name: 'mirror_settlements',
      text: `
        with settled as (
          insert into mirror.jobs (
            address, job_id, credit_account, wallet, controller, model, model_id, tier, status,
            attempt, token_limit, credits_per_request, credits_per_1k_tokens,
            long_completion_threshold_tokens, treasury_share_basis_points, slash_tokens,
            job_timeout_seconds, dispute_window_seconds, arbitration_window_seconds, rent_payer,
            locked_credits, charged_credits, locked_at, settled_at, ended_at, escrow_tx,
            escrow_slot, settlement_tx, settlement_slot, closed, sequence)
          select
            job, job, account.address, account.wallet, '', model.address, model.id, model.tier,
            'settled', 1, 2000, model.credits_per_request, model.credits_per_1k_tokens,
            model.long_completion_threshold_tokens, 1500, 500, 120, 60, 86400, '', 8, 8, 1, 1, 1,
            job, 1, job, 1, false, 1
          from unnest($1::text[]) job, mirror.credit_accounts account, mirror.models model
          on conflict do nothing)
        select pg_notify('mirror_jobs', array_to_string($1::text[], ','))`,
      values: [jobs],
    });
    return [];
  },
});

hints.on('notification', ({ payload = '' }) => void mirror(payload));
await hints.query(`listen ${SETTLED}`);
endWithParent();
process.stdout.write(`${JSON.stringify({ ready: true, url: '' })}\n`);
