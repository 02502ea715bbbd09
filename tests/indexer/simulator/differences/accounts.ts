import type { Database } from '../../../../common/postgres.ts';
import type { ProgramState } from '../../../../testing/indexer/program/programState.ts';
import { addresses } from '../../../../testing/indexer/scene.ts';
import { describeDifferences } from './describeDifferences.ts';

/** What the program's own accounts hold too, by address. */
const QUERIES = [
  'select address, sequence from config',
  `select address, sequence, owed_base_units, disputed_exposure_base_units,
     slashed_stake_tokens, unpaid_base_units
   from treasury`,
  `select address, sequence, available_credits, locked_credits, owed_credits, open_disputes
   from credit_accounts`,
  `select address, sequence, stake_tokens, claimable_base_units, jobs_settled,
     exists (select from worker_models where worker = address) as hosts
   from workers`,
  'select address, sequence, wallet, worker, attempt, status, closed from jobs',
];

/**
 * The tables' accounts should hold what the ledger's own do. These are kept by the instructions as
 * they are executed, without any of the mirror's code.
 */
export async function compareAccounts(database: Database, state: ProgramState): Promise<string[]> {
  const found = new Map<string, unknown>();
  for (const query of QUERIES) {
    const { rows } = await database.query<{ address: string }>(query);
    for (const { address, ...row } of rows) found.set(address, row);
  }
  return describeDifferences(found, accountsOf(state));
}

function accountsOf({ config, treasury, wallets, workers, jobs }: ProgramState) {
  const accounts = new Map<string, unknown>();
  accounts.set(addresses.config.toBase58(), { sequence: config.sequence });
  accounts.set(addresses.treasury.toBase58(), {
    sequence: treasury.sequence,
    owed_base_units: treasury.owedBaseUnits,
    disputed_exposure_base_units: treasury.exposureBaseUnits,
    slashed_stake_tokens: treasury.slashedTokens,
    unpaid_base_units: treasury.unpaidBaseUnits,
  });
  for (const account of wallets.values()) {
    accounts.set(account.creditAccount, {
      sequence: account.sequence,
      available_credits: account.availableCredits,
      locked_credits: account.lockedCredits,
      owed_credits: account.owedCredits,
      open_disputes: account.openDisputes,
    });
  }
  for (const worker of workers.values()) {
    accounts.set(worker.worker, {
      sequence: worker.sequence,
      stake_tokens: worker.stakeTokens,
      claimable_base_units: worker.claimableBaseUnits,
      jobs_settled: worker.jobsSettled,
      hosts: worker.hosts,
    });
  }
  for (const job of jobs.values()) {
    accounts.set(job.job, {
      sequence: BigInt(job.sequence),
      wallet: job.wallet,
      worker: job.worker || null,
      attempt: job.attempt,
      status: job.status,
      closed: job.isClosed,
    });
  }
  return accounts;
}
