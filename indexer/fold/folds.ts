import type { Addresses } from '../../programs/client/addresses.ts';
import type { EventName } from '../../programs/client/events.ts';
import type { Change, Fold } from './change.ts';
import {
  foldAuthorityAccepted,
  foldAuthorityProposed,
  foldConfigInitialized,
  foldConfigUpdated,
  foldGatewayOpened,
  foldGatewayUpdated,
  foldGatewayVouched,
  foldPauseSet,
  foldSlashBurned,
} from './config.ts';
import {
  foldClaimPaid,
  foldCreditBought,
  foldCreditOpened,
  foldCreditWithdrawn,
  foldLimitSet,
  foldSpenderSet,
} from './credit.ts';
import type { LedgerEvent } from './event.ts';
import {
  foldDisputeAmended,
  foldDisputeExpired,
  foldDisputeResolved,
  foldJobAcknowledged,
  foldJobClosed,
  foldJobDisputed,
  foldJobFailed,
  foldJobLocked,
  foldJobProven,
  foldJobRefunded,
  foldJobSettled,
} from './job.ts';
import { foldModelRetired, foldModelUpserted } from './model.ts';
import {
  foldStake,
  foldWorkerDeregistered,
  foldWorkerHosted,
  foldWorkerRegistered,
  foldWorkerSuspended,
  foldWorkerUnhosted,
  foldWorkerUpdated,
} from './worker.ts';

const folds: { [Name in EventName]: Fold<Name> } = {
  ConfigInitialized: foldConfigInitialized,
  ConfigUpdated: foldConfigUpdated,
  AuthorityProposed: foldAuthorityProposed,
  AuthorityAccepted: foldAuthorityAccepted,
  PauseSet: foldPauseSet,
  // Moves tokens out of the treasury's vault, which no table mirrors.
  TreasuryWithdrawn: () => [],
  GatewayOpened: foldGatewayOpened,
  GatewayUpdated: foldGatewayUpdated,
  GatewayVouched: foldGatewayVouched,
  ModelUpserted: foldModelUpserted,
  ModelRetired: foldModelRetired,
  CreditOpened: foldCreditOpened,
  CreditBought: foldCreditBought,
  CreditWithdrawn: foldCreditWithdrawn,
  SpenderSet: foldSpenderSet,
  LimitSet: foldLimitSet,
  WorkerRegistered: foldWorkerRegistered,
  WorkerUpdated: foldWorkerUpdated,
  WorkerHosted: foldWorkerHosted,
  WorkerUnhosted: foldWorkerUnhosted,
  WorkerSuspended: foldWorkerSuspended,
  WorkerDeregistered: foldWorkerDeregistered,
  StakeDeposited: foldStake,
  StakeUnlocked: foldStake,
  StakeWithdrawn: foldStake,
  SlashBurned: foldSlashBurned,
  JobLocked: foldJobLocked,
  JobAcknowledged: foldJobAcknowledged,
  JobProven: foldJobProven,
  JobSettled: foldJobSettled,
  JobFailed: foldJobFailed,
  JobRefunded: foldJobRefunded,
  JobDisputed: foldJobDisputed,
  DisputeAmended: foldDisputeAmended,
  DisputeResolved: foldDisputeResolved,
  DisputeExpired: foldDisputeExpired,
  JobClosed: foldJobClosed,
  ClaimPaid: foldClaimPaid,
};

/** What an event did to each account whose sequence it moved. */
export function changesOf(event: LedgerEvent, addresses: Addresses): readonly Change[] {
  const fold = folds[event.name] as (event: LedgerEvent, addresses: Addresses) => readonly Change[];
  return fold(event, addresses);
}
