import { once } from 'node:events';
import type { Logger } from '../../common/logger.ts';
import type { Database } from '../../common/postgres.ts';
import { delay } from '../../common/wait.ts';
import type { LedgerClock } from '../../programs/client/sender/index.ts';
import type { Keeper } from '../keeper/keeper.ts';
import type { IndexerMetrics } from '../telemetry/metrics.ts';

/** Something that a wallet may do only a few times. */
export interface Offence {
  /** As in the journal of suspensions, in logs and in metrics. */
  readonly reason: 'unpaid_endings' | 'rejected_disputes';
  /** Those that ended within so many seconds of the ledger's time are counted. */
  readonly windowSeconds: bigint;
  /** The column of `mirror.jobs` that says when. */
  readonly endedAt: 'ended_at' | 'resolved_at';
  /** Which rows of `mirror.jobs` are one. */
  readonly condition: string;
}

const HOUR_SECONDS = 3_600n;

/**
 * Work that a worker did unpaid: its client left, or the answer has no text. Where a worker
 * alone is to blame for that, the API has asked another one, or records `worker_error`.
 */
export const unpaidEndings: Offence = {
  reason: 'unpaid_endings',
  windowSeconds: HOUR_SECONDS,
  endedAt: 'ended_at',
  condition: `failure_reason in ('client_gone', 'empty_output')`,
};

/** Disputes that brought no evidence: each binds the operator's rent and the treasury's share. */
export const rejectedDisputes: Offence = {
  reason: 'rejected_disputes',
  windowSeconds: 30n * 24n * HOUR_SECONDS,
  endedAt: 'resolved_at',
  condition: `outcome in ('rejected', 'expired')`,
};

/** A wallet that was suspended just now. */
interface Suspended {
  readonly wallet: string;
  /** How many offences it had in the window. */
  readonly offences: bigint;
}

/**
 * Suspends every wallet with more than `offencesMax` offences, and journals it, in one statement.
 * Its key may be revoked by then: the suspension is the wallet's. A wallet that never had a key is no
 * client of this service. Jobs that were locked before a suspension was lifted are forgiven. A job
 * whose controller is its own wallet is not counted: that wallet wrote its failure reason.
 *
 * @param options.nowSeconds the ledger's time
 */
export async function suspendOffenders(
  database: Database,
  options: { offence: Offence; offencesMax: number; nowSeconds: bigint },
): Promise<Suspended[]> {
  const { offence, offencesMax, nowSeconds } = options;
  const { rows } = await database.query<Suspended>({
    name: `suspend_for_${offence.reason}`,
    text: `
      with offenders as (
        select job.wallet, count(*) as offences
        from mirror.jobs job
        where ${offence.condition}
          and ${offence.endedAt} > $1
          and job.controller <> job.wallet
          and exists (select from service.api_keys key where key.wallet = job.wallet)
          and not exists (
            select from service.key_suspensions suspension
            where suspension.wallet = job.wallet and suspension.lifted_at is null
          )
          and job.locked_at > (
            select coalesce(max(forgiven_until), -1) from service.key_suspensions lifted
            where lifted.wallet = job.wallet
          )
        group by job.wallet
        having count(*) > $2
      ), suspended as (
        insert into service.key_suspensions (wallet, suspended_by, reason, judged_at)
        select wallet, 'indexer', $3::text || ' (' || offences || ')', $4::bigint
        from offenders
        on conflict (wallet) where lifted_at is null do nothing
        returning wallet
      )
      select wallet, offences from suspended join offenders using (wallet)`,
    values: [nowSeconds - offence.windowSeconds, offencesMax, offence.reason, nowSeconds],
  });
  return rows;
}

/** An offence, and how many of it a wallet may have; 0 for any number. */
interface AbuseLimit {
  readonly offence: Offence;
  readonly offencesMax: number;
}

/** Suspends wallets that keep causing costs for others. */
export function createAbuseWatch(options: {
  limits: readonly AbuseLimit[];
  database: Database;
  clock: LedgerClock;
  logger: Logger;
  metrics: Pick<IndexerMetrics, 'suspended'>;
  intervalMs: number;
}): Keeper {
  const { database, clock, logger, metrics } = options;
  const { intervalMs } = options;
  const limits = options.limits.filter(({ offencesMax }) => offencesMax > 0);

  async function judge(limit: AbuseLimit): Promise<void> {
    const nowSeconds = clock.nowSeconds();
    for (const suspended of await suspendOffenders(database, { ...limit, nowSeconds })) {
      const { reason } = limit.offence;
      metrics.suspended(reason);
      const { wallet, offences } = suspended;
      logger.warn({ msg: 'Suspended a wallet for abuse', wallet, reason, offences: `${offences}` });
    }
  }

  return {
    async run(signal) {
      if (!signal.aborted) await Promise.race([clock.ready, once(signal, 'abort')]);
      while (!signal.aborted) {
        for (const limit of limits) await judge(limit);
        await delay(intervalMs, signal);
      }
    },
  };
}
