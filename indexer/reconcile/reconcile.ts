import type pg from 'pg';
import { delay } from '../../common/wait.ts';
import type { Addresses } from '../../programs/client/addresses.ts';
import type { LedgerConnection } from '../../programs/client/ledgerConnection.ts';
import { getGenesisHash } from '../../programs/client/rpc/methods.ts';
import type { LedgerNode } from '../../programs/client/rpc/rpc.ts';
import {
  type Conservation,
  computeConservation,
} from '../../programs/client/verify/ledgerState.ts';
import { assertSameLedger } from '../mirror/bindLedger.ts';
import { selectLedger } from '../sql/progress.ts';
import { compareLedger } from './compareLedger.ts';
import { type Difference, inSnapshot } from './difference.ts';
import { compareJournal } from './journal.ts';
import type { LaggingAccounts } from './lagging.ts';
import { readLedger, readNewest } from './readLedger.ts';

/**
 * Refuses to compare a mirror with another ledger or program than its own: everything would differ,
 * and nothing would be wrong. A mirror that no indexer has kept yet belongs to none.
 *
 * @throws FatalError naming both
 * @throws RetryableError when the ledger does not answer
 */
export async function checkLedger(options: {
  database: pg.Pool;
  node: LedgerNode;
  addresses: Addresses;
}): Promise<void> {
  const { database, node, addresses } = options;
  const bound = await inSnapshot(database, selectLedger);
  if (!bound) return;
  const genesisHash = await getGenesisHash(node);
  assertSameLedger(bound, { genesisHash, programId: addresses.programId.toBase58() });
}

export interface Reconciliation {
  /** Of the accounts and vaults that were read. */
  readonly slot: number;
  readonly accounts: number;
  /** Accounts of zeros that strangers made in the program's name; they mean nothing. */
  readonly blankAccounts: number;
  readonly differences: readonly Difference[];
  /** Null when the mirror was far enough to compare every account. */
  readonly behind: LaggingAccounts | null;
  /** Null when tokens kept moving while the accounts were read. */
  readonly conservation: readonly Conservation[] | null;
}

/**
 * Compares the tables with the journal's events and the program's accounts. It also compares the
 * vaults with what the accounts promise, and the hours of usage with the jobs.
 *
 * @param options.patienceMs how long to wait for a mirror that is behind the ledger; default 0
 * @param options.wait how time passes between two looks
 * @throws RetryableError when the ledger does not answer, or the signal aborts
 */
export async function reconcile(options: {
  database: pg.Pool;
  connection: LedgerConnection;
  addresses: Addresses;
  patienceMs?: number;
  signal?: AbortSignal;
  wait?: typeof delay;
}): Promise<Reconciliation> {
  const { database: pool, connection, addresses, patienceMs = 0 } = options;
  const { signal = new AbortController().signal, wait = delay } = options;
  const state = await readLedger(connection, addresses, { signal, wait });
  const { accounts } = state;
  const newest = await readNewest(connection, addresses.programId.toBase58());
  const onLedger = { connection, accounts, newest };
  const { differences, behind } = await compareLedger({
    ...{ pool, ...onLedger },
    ...{ patienceMs, signal, wait },
  });
  return {
    slot: state.slot,
    accounts: accounts.size,
    blankAccounts: state.blankAccounts,
    differences: [
      ...differences,
      ...(await compareJournal(pool, addresses, signal)),
      ...(await compareUsage(pool)),
    ],
    behind,
    conservation: state.vaults && computeConservation({ ...state.vaults, accounts }),
  };
}

/** Whether everything agrees, and everything could be compared but the vaults. */
export function isClean(result: Reconciliation): boolean {
  return !isBreach(result) && result.behind === null;
}

/** Whether anything differs, or a vault that was compared holds less than it owes. */
export function isBreach({ differences, conservation }: Reconciliation): boolean {
  return differences.length > 0 || conservation?.some(holdsTooLittle) === true;
}

/** Of one vault. More than it owes was sent unasked. */
export function holdsTooLittle({ heldBaseUnits, dueBaseUnits }: Conservation): boolean {
  return heldBaseUnits < dueBaseUnits;
}

/** More than help to see what is wrong. */
const DIFFERENCES_MAX = 100;

/** Whether a job was charged at the rate for long texts. */
const IS_LONG = `status in ('settled', 'disputed')
  and least(completion_tokens, counted_tokens) > long_completion_threshold_tokens`;

/** Compares the hours of usage with a sum over the jobs that they follow. */
export function compareUsage(pool: pg.Pool): Promise<Difference[]> {
  return inSnapshot(pool, async (database) => {
    const { rows } = await database.query<Pick<Difference, 'address' | 'mirror' | 'expected'>>(
      `with counted as (
         select wallet, locked_at - locked_at % 3600 as hour, model_id, coalesce(worker, '') as worker,
           row(count(*), count(*) filter (where status in ('settled', 'disputed')),
             count(*) filter (where status = 'failed'),
             count(*) filter (where status = 'refunded'), sum(charged_credits),
             sum(coalesce(prompt_tokens, 0)),
             sum(coalesce(least(completion_tokens, counted_tokens), 0)),
             count(*) filter (where ${IS_LONG}),
             coalesce(sum(charged_credits) filter (where ${IS_LONG}), 0))::text as sums
         from jobs group by 1, 2, 3, 4
       ), kept as (
         select wallet, hour, model_id, worker,
           row(jobs, settled, failed, refunded, charged_credits, prompt_tokens,
             completion_tokens, long_jobs, long_credits)::text as sums
         from usage_hours
       )
       select concat_ws(' ', wallet, hour, model_id, worker) as address,
         kept.sums as mirror, counted.sums as expected
       from counted full join kept using (wallet, hour, model_id, worker)
       where kept.sums is distinct from counted.sums
       limit ${DIFFERENCES_MAX}`,
    );
    return rows.map((row) => ({ against: 'jobs', column: 'usage', ...row }));
  });
}
