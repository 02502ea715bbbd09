import type { Database } from '../../../common/postgres.ts';
import type { EventName } from '../../../programs/client/events.ts';
import type { LedgerEvent } from '../../decode.ts';
import { balanceAfter } from './balance.ts';
import { moveCreditAlert } from './creditAlerts.ts';
import { creditLow, describeCreditBought } from './credits.ts';
import {
  describeJobAcknowledged,
  describeJobDisputed,
  describeJobFailed,
  describeJobLocked,
  describeJobRefunded,
  describeJobSettled,
} from './jobs.ts';
import type { Describe, Facts, Occurrence } from './occurrence.ts';
import { describeDisputeResolved, describeWorkerRegistered } from './workers.ts';

const descriptions: { readonly [Name in EventName]?: Describe<Name> } = {
  JobLocked: describeJobLocked,
  JobAcknowledged: describeJobAcknowledged,
  JobSettled: describeJobSettled,
  JobFailed: describeJobFailed,
  JobRefunded: describeJobRefunded,
  JobDisputed: describeJobDisputed,
  CreditBought: describeCreditBought,
  WorkerRegistered: describeWorkerRegistered,
  DisputeResolved: describeDisputeResolved,
};

/** Whether webhooks are told of events of this kind, directly or by what follows from them. */
export function isAnnounced({ name }: LedgerEvent): boolean {
  return name in descriptions || name === 'CreditWithdrawn' || name === 'ClaimPaid';
}

/**
 * What webhooks are told of one event: at most its own kind, and `credit.low` when it is the one
 * that took a balance below its threshold, which is noted in the same database transaction.
 */
export async function occurrencesOf(
  database: Database,
  event: LedgerEvent,
  facts: Facts,
): Promise<Occurrence[]> {
  const describe = descriptions[event.name] as Describe<EventName> | undefined;
  const described = describe?.(event, facts);
  const occurrences: Occurrence[] = described ? [{ ...described, event }] : [];
  const balance = await balanceAfter(database, event);
  if (!balance) return occurrences;
  const thresholdCredits = await moveCreditAlert(database, balance);
  if (thresholdCredits === null) return occurrences;
  return [...occurrences, creditLow(event, balance, thresholdCredits)];
}
