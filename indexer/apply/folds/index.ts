import type { Addresses } from '../../../programs/client/addresses.ts';
import type { EventName } from '../../../programs/client/events.ts';
import type { LedgerEvent } from '../../decode.ts';
import type { Change, Fold } from '../change.ts';
import { foldClaimPaid } from './claimPaid.ts';
import {
  foldAuthorityAccepted,
  foldAuthorityProposed,
  foldConfigInitialized,
  foldConfigUpdated,
  foldPauseSet,
} from './config.ts';
import {
  foldCreditBought,
  foldCreditOpened,
  foldCreditWithdrawn,
  foldLimitSet,
  foldSpenderSet,
} from './credit.ts';
import { foldDisputeExpired } from './disputeExpired.ts';
import { foldDisputeResolved } from './disputeResolved.ts';
import { foldGatewayOpened, foldGatewayUpdated } from './gateway.ts';
import { foldJobAcknowledged } from './jobAcknowledged.ts';
import { foldJobClosed } from './jobClosed.ts';
import { foldJobDisputed } from './jobDisputed.ts';
import { foldJobFailed } from './jobFailed.ts';
import { foldJobLocked } from './jobLocked.ts';
import { foldJobProven } from './jobProven.ts';
import { foldJobRefunded } from './jobRefunded.ts';
import { foldJobSettled } from './jobSettled.ts';
import { foldModelRetired, foldModelUpserted } from './model.ts';
import { foldStake } from './stake.ts';
import {
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
  JobLocked: foldJobLocked,
  JobAcknowledged: foldJobAcknowledged,
  JobProven: foldJobProven,
  JobSettled: foldJobSettled,
  JobFailed: foldJobFailed,
  JobRefunded: foldJobRefunded,
  JobDisputed: foldJobDisputed,
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
