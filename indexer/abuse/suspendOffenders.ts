import type { Database } from '../../common/postgres.ts';
import type { Offence } from './offences.ts';

/** A wallet whose key was suspended just now. */
export interface Suspended {
  readonly wallet: string;
  /** How many offences it had in the window. */
  readonly offences: bigint;
}

/**
 * Suspends the live key of every wallet with more than `offencesMax` offences, and journals it, in
 * one statement. Counted is what the mirror holds, which a rebuild makes again as it was; what was
 * locked before a suspension was lifted is forgiven. A job whose controller is its own wallet is
 * none of this service's: its failure reason is what that wallet wrote.
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
        join service.api_keys key on key.wallet = job.wallet and key.status = 'active'
        where ${offence.condition}
          and ${offence.endedAt} > $1
          and job.controller <> job.wallet
          and job.locked_at > (
            select coalesce(max(forgiven_until), -1) from service.key_suspensions lifted
            where lifted.wallet = job.wallet
          )
        group by job.wallet
        having count(*) > $2
      ), suspended as (
        update service.api_keys key set status = 'suspended'
        from offenders
        where key.wallet = offenders.wallet and key.status = 'active'
        returning key.key_sha256, key.wallet, offenders.offences
      ), journaled as (
        insert into service.key_suspensions (key_sha256, wallet, suspended_by, reason, judged_at)
        select key_sha256, wallet, 'indexer', $3::text || ' (' || offences || ')', $4::bigint
        from suspended
      )
      select wallet, offences from suspended`,
    values: [nowSeconds - offence.windowSeconds, offencesMax, offence.reason, nowSeconds],
  });
  return rows;
}
