import type pg from 'pg';
import { type Database, inTransaction } from '../../common/postgres.ts';
import { lockKeys, selectOpenSuspension } from '../sql/accounts.ts';

/** The wallet is suspended, and gets no other key until the suspension is lifted. */
export class WalletSuspendedError extends Error {
  override name = 'WalletSuspendedError';
}

/** The wallet is suspended already, or not suspended. */
export class SuspensionStateError extends Error {
  override name = 'SuspensionStateError';
}

/** The indexer's reasons for a suspension, in words. */
const CONDUCT: Readonly<Record<string, string>> = {
  unpaid_endings: 'too many requests were left, or kept without text, so that nothing was charged',
  rejected_disputes: 'too many disputes were rejected',
};

/**
 * One sentence and the way out.
 *
 * @param what is suspended, as the sentence begins
 * @param reason an operator's words, or the indexer's term with how often it happened
 */
export function suspensionMessage(what: string, reason: string): string {
  const words = CONDUCT[reason.replace(/ \(\d+\)$/, '')] ?? reason.replace(/[.\s]+$/, '');
  return `${what} is suspended: ${words}. The operator of this service can reinstate it.`;
}

/**
 * Refuses the wallet's keys, those that it has and those that it would make, until it is reinstated.
 * It need not have one. Why is kept.
 *
 * @throws SuspensionStateError when it is suspended already
 */
export async function suspendWallet(
  database: pg.Pool,
  wallet: string,
  reason = 'not given',
): Promise<void> {
  const { rowCount } = await inTransaction(database, async (client) => {
    await lockKeys(client, wallet);
    return client.query(
      `insert into service.key_suspensions (wallet, suspended_by, reason)
       values ($1, 'operator', $2)
       on conflict (wallet) where lifted_at is null do nothing`,
      [wallet, reason],
    );
  });
  if (rowCount === 0) throw new SuspensionStateError(`The wallet ${wallet} is suspended already.`);
}

/**
 * Ends a suspension. What the wallet did before is forgiven: none of its jobs until now counts as
 * abuse any more.
 *
 * @throws SuspensionStateError when the wallet is not suspended
 */
export async function reinstateWallet(database: pg.Pool, wallet: string): Promise<void> {
  const { rowCount } = await database.query(
    `update service.key_suspensions suspension
     set lifted_at = now(),
         forgiven_until = greatest(
           suspension.judged_at, (select max(locked_at) from mirror.jobs where wallet = $1), 0
         )
     where wallet = $1 and lifted_at is null`,
    [wallet],
  );
  if (rowCount === 0) throw new SuspensionStateError(`The wallet ${wallet} is not suspended.`);
}

/** @throws WalletSuspendedError */
export async function assertNotSuspended(database: Database, wallet: string): Promise<void> {
  const suspension = await selectOpenSuspension(database, wallet);
  if (!suspension) return;
  throw new WalletSuspendedError(suspensionMessage(`The wallet ${wallet}`, suspension.reason));
}
