export type { Actor, Deployment } from './build.ts';
export {
  authorityAccept,
  authorityPropose,
  type ConfigSettings,
  configInitialize,
  configUpdate,
  pauseSet,
  treasuryWithdraw,
} from './config.ts';
export { claimPay, creditBuy, creditOpen, creditWithdraw, limitSet, spenderSet } from './credit.ts';
export { disputeExpire, disputeResolve, jobDispute } from './dispute.ts';
export { gatewayOpen, gatewayUpdate } from './gateway.ts';
export {
  jobAcknowledge,
  jobClose,
  jobFail,
  jobLock,
  jobProve,
  jobRefund,
  jobSettle,
} from './job.ts';
export { modelRetire, modelUpsert } from './model.ts';
export {
  stakeDeposit,
  stakeUnlock,
  stakeWithdraw,
  workerDeregister,
  workerHost,
  workerRegister,
  workerSuspend,
  workerUnhost,
  workerUpdate,
} from './worker.ts';
