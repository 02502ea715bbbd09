// Generated from the Rust source by programs/tools/idl.ts: do not edit.

import type { PublicKey } from '@solana/web3.js';
import type {
  ClaimantKind,
  DisputeOutcome,
  FailureReason,
  JobStatus,
  Tier,
  WorkerStatus,
} from './vocabulary.ts';

/** The one configuration of the program */
export interface Config {
  version: number;
  bump: number;
  /** Grows by one with every change */
  sequence: bigint;
  /** Governs everything but verdicts */
  authority: PublicKey;
  /** Becomes the authority once it accepts; zero when none is proposed */
  pendingAuthority: PublicKey;
  /** Decides disputes and suspends workers; never the authority */
  arbiter: PublicKey;
  /** The stablecoin that credits are bought with */
  creditMint: PublicKey;
  /** The service's own token, which workers stake */
  stakeMint: PublicKey;
  /** Holds every credit's stablecoin */
  vault: PublicKey;
  /** Holds the treasury's share */
  treasuryVault: PublicKey;
  /** Holds stakes, unstaking tokens and slashed tokens */
  stakeVault: PublicKey;
  vaultAuthorityBump: number;
  stakeDecimals: number;
  /** The treasury's part of each charge, in hundredths of a percent */
  treasuryShareBasisPoints: number;
  jobTimeoutSeconds: number;
  disputeWindowSeconds: number;
  arbitrationWindowSeconds: number;
  /** How long unlocked stake stays within reach of a verdict */
  unstakeCooldownSeconds: number;
  /** How many open disputes a controller may bring a wallet to; the wallet itself may go up to twice as many, 255 at most */
  openDisputesMax: number;
  depositsPaused: boolean;
  locksPaused: boolean;
  /** Whole tokens below which a worker is given no job */
  minimumStakeTokens: bigint;
  /** Whole tokens that a verdict against a worker takes */
  slashTokens: number;
  /** The most that one job may lock */
  jobCreditsMax: bigint;
  /** The most that one credit account may hold */
  creditAccountCreditsMax: bigint;
  /** What a withdrawal leaves in the treasury vault besides its debts */
  treasuryFloorCredits: bigint;
  /** The higher floor that still counts until `earlier_floor_ends_at`; zero when there was none */
  earlierFloorCredits: bigint;
  earlierFloorEndsAt: bigint;
  reserved: Uint8Array;
}

/** A wallet's credits, its spender and the limits that bind that spender */
export interface CreditAccount {
  version: number;
  bump: number;
  /** Grows by one with every change */
  sequence: bigint;
  /** Owns the credits */
  wallet: PublicKey;
  /** A key or a Gateway that may lock credits; zero when none is set */
  spender: PublicKey;
  /** The most the spender may lock for one job; the largest number means no limit. Zero without a spender */
  limitPerJobCredits: bigint;
  /** The most that the locks of one day of UTC may charge and hold; the largest number means no limit. Zero without a spender */
  limitPerDayCredits: bigint;
  /** The day `spent_today_credits` counts, in days since 1970 */
  spentDay: number;
  /** Of what the spender locked on `spent_day`: what was charged, and what is still locked */
  spentTodayCredits: bigint;
  /** Free to be locked or withdrawn */
  availableCredits: bigint;
  /** Held by jobs that are not final */
  lockedCredits: bigint;
  /** Owed by the treasury after upheld disputes */
  owedCredits: bigint;
  openDisputes: number;
  openedAt: bigint;
  /** Zero before the first purchase */
  lastTopupAt: bigint;
  reserved: Uint8Array;
}

/** The hot signers that spend for every wallet which named this gateway */
export interface Gateway {
  version: number;
  bump: number;
  /** Grows by one with every change */
  sequence: bigint;
  /** The cold key that changes signers and stops the gateway */
  operator: PublicKey;
  /** Refuses new locks and attempts; what runs can be settled or failed */
  stopped: boolean;
  signersLen: number;
  signers: PublicKey[];
  /** The authority vouches for it: the treasury repays its jobs in full */
  vouched: boolean;
  reserved: Uint8Array;
}

/** One job */
export interface Job {
  version: number;
  bump: number;
  /** Grows by one with every change */
  sequence: number;
  status: JobStatus;
  /** The recorded attempt, from 1; zero before the first acknowledgement */
  attempt: number;
  tier: Tier;
  outcome: DisputeOutcome;
  failureReason: FailureReason;
  treasuryShareBasisPoints: number;
  /** A UUID of version 7 in network order */
  jobId: Uint8Array;
  creditAccount: PublicKey;
  /** Alone acknowledges, settles and fails the job: a key or a Gateway */
  controller: PublicKey;
  model: PublicKey;
  /** The acknowledged Worker account; zero before */
  worker: PublicKey;
  /** Gets the rent back when the job is closed */
  rentPayer: PublicKey;
  /** The sha256 that the worker proved; zero before */
  outputHash: Uint8Array;
  /** The sha256 that the client received, once disputed; zero before */
  clientHash: Uint8Array;
  /** The key that signed the settlement and the delivery receipt; zero before */
  settledBy: PublicKey;
  lockedAt: bigint;
  /** What was locked; still locked while the job is pending, processing or settling */
  lockedCredits: bigint;
  /** What was charged, less what an upheld dispute repaid; zero before settlement */
  chargedCredits: bigint;
  creditsPerRequest: number;
  creditsPer1kTokens: number;
  longCompletionThresholdTokens: number;
  /** The most tokens the answer may have */
  tokenLimit: number;
  /** As proven */
  promptTokens: number;
  /** As proven */
  completionTokens: number;
  /** As counted by the controller at settlement */
  countedTokens: number;
  /** Whole tokens that a verdict against the worker takes */
  slashTokens: number;
  jobTimeoutSeconds: number;
  disputeWindowSeconds: number;
  arbitrationWindowSeconds: number;
  acknowledgedAfterSeconds: number;
  provenAfterSeconds: number;
  /** Settled, failed or refunded for the first time */
  endedAfterSeconds: number;
  disputedAfterSeconds: number;
  resolvedAfterSeconds: number;
  /** Locked through a gateway that the authority vouched for then */
  vouched: boolean;
  /** The wallet itself opened the dispute, or amended it */
  disputedByWallet: boolean;
  /** The day of UTC whose limit counts the lock; zero when the wallet itself locked */
  limitDay: number;
}

/** A model that jobs can be locked for, at `["model", sha256(id)]` */
export interface Model {
  version: number;
  bump: number;
  /** Grows by one with every change */
  sequence: bigint;
  idLen: number;
  /** Printable ASCII, padded with zeros */
  id: Uint8Array;
  tier: Tier;
  labelLen: number;
  /** The parameter count as shown, printable ASCII, padded with zeros */
  label: Uint8Array;
  originatorLen: number;
  /** Who made the model, printable ASCII, padded with zeros */
  originator: Uint8Array;
  contextWindowTokens: number;
  /** The price of a completion up to the threshold */
  creditsPerRequest: number;
  /** The price of 1,000 tokens of a longer completion */
  creditsPer1kTokens: number;
  longCompletionThresholdTokens: number;
  createdAt: bigint;
  /** From here on nothing is locked for the model; zero when no retirement is announced */
  retiresAt: bigint;
  /** The sha256 of the model's card; zero when nothing says which weights it is */
  cardHash: Uint8Array;
  reserved: Uint8Array;
}

/** The treasury's obligations; its tokens lie in the treasury vault */
export interface Treasury {
  version: number;
  bump: number;
  /** Grows by one with every change */
  sequence: bigint;
  /** Owed to wallets by upheld disputes and not yet paid */
  owedBaseUnits: bigint;
  /** What the open disputes would cost if all were upheld */
  disputedExposureBaseUnits: bigint;
  /** Whole tokens of the stake vault that belong to no worker any more and wait to be burnt */
  slashedStakeTokens: bigint;
  /** Shares that still lie in the vault because they could not be paid at settlement */
  unpaidBaseUnits: bigint;
  reserved: Uint8Array;
}

/** A registered worker */
export interface Worker {
  version: number;
  bump: number;
  /** Grows by one with every change */
  sequence: bigint;
  /** Registers, stakes and changes the worker */
  authority: PublicKey;
  /** The ed25519 key that signs proofs */
  proofKey: PublicKey;
  /** The token account that is paid */
  payout: PublicKey;
  status: WorkerStatus;
  /** Whole tokens at stake */
  stakeTokens: bigint;
  /** Whole tokens on their way out, still within reach of a verdict */
  unstakingTokens: bigint;
  /** When the unstaking tokens can be withdrawn */
  unstakeReadyAt: bigint;
  /** Pay that lies in the vault because it could not be paid at settlement */
  claimableBaseUnits: bigint;
  jobsSettled: bigint;
  registeredAt: bigint;
  endpointLen: number;
  /** Where jobs are posted, printable ASCII, padded with zeros */
  endpoint: Uint8Array;
  modelsLen: number;
  /** The Model accounts hosted */
  models: PublicKey[];
  /** The lowest cooldown at any deposit since nothing was staked; binds every unlock */
  unstakeCooldownSeconds: number;
  /** The key that signed proofs before; zero when it never changed */
  previousProofKey: PublicKey;
  /** When the proof key last changed; zero when it never did */
  proofKeyChangedAt: bigint;
  reserved: Uint8Array;
}

/** The configuration was created */
export interface ConfigInitialized {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  configSequence: bigint;
  authority: PublicKey;
  arbiter: PublicKey;
  creditMint: PublicKey;
  stakeMint: PublicKey;
  treasuryShareBasisPoints: number;
  unstakeCooldownSeconds: number;
  openDisputesMax: number;
  minimumStakeTokens: bigint;
  slashTokens: number;
  jobCreditsMax: bigint;
  creditAccountCreditsMax: bigint;
  treasuryFloorCredits: bigint;
  vault: PublicKey;
  treasuryVault: PublicKey;
  stakeVault: PublicKey;
  stakeDecimals: number;
  jobTimeoutSeconds: number;
  disputeWindowSeconds: number;
  arbitrationWindowSeconds: number;
}

/** The configuration was changed */
export interface ConfigUpdated {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  configSequence: bigint;
  authority: PublicKey;
  arbiter: PublicKey;
  creditMint: PublicKey;
  stakeMint: PublicKey;
  treasuryShareBasisPoints: number;
  unstakeCooldownSeconds: number;
  openDisputesMax: number;
  minimumStakeTokens: bigint;
  slashTokens: number;
  jobCreditsMax: bigint;
  creditAccountCreditsMax: bigint;
  treasuryFloorCredits: bigint;
  earlierFloorCredits: bigint;
  earlierFloorEndsAt: bigint;
}

/** A new authority was proposed, or the proposal withdrawn */
export interface AuthorityProposed {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  configSequence: bigint;
  authority: PublicKey;
  pendingAuthority: PublicKey;
}

/** The proposed authority accepted */
export interface AuthorityAccepted {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  configSequence: bigint;
  authority: PublicKey;
}

/** Deposits or locks were paused or resumed */
export interface PauseSet {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  configSequence: bigint;
  depositsPaused: boolean;
  locksPaused: boolean;
}

/** The authority withdrew from the treasury vault */
export interface TreasuryWithdrawn {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  authority: PublicKey;
  destination: PublicKey;
  baseUnits: bigint;
  treasuryVaultBaseUnits: bigint;
}

/** A gateway was opened */
export interface GatewayOpened {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  gateway: PublicKey;
  gatewaySequence: bigint;
  operator: PublicKey;
  signers: PublicKey[];
  stopped: boolean;
}

/** A gateway's signers or stop flag were set */
export interface GatewayUpdated {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  gateway: PublicKey;
  gatewaySequence: bigint;
  operator: PublicKey;
  signers: PublicKey[];
  stopped: boolean;
}

/** The authority vouched for a gateway, or no longer does */
export interface GatewayVouched {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  gateway: PublicKey;
  gatewaySequence: bigint;
  operator: PublicKey;
  vouched: boolean;
}

/** A model was added or changed */
export interface ModelUpserted {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  model: PublicKey;
  modelSequence: bigint;
  id: string;
  tier: Tier;
  label: string;
  originator: string;
  contextWindowTokens: number;
  creditsPerRequest: number;
  creditsPer1kTokens: number;
  longCompletionThresholdTokens: number;
  cardHash: Uint8Array;
  createdAt: bigint;
  retiresAt: bigint;
}

/** A model's retirement was announced, or taken back */
export interface ModelRetired {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  model: PublicKey;
  modelSequence: bigint;
  id: string;
  retiresAt: bigint;
}

/** A credit account was opened */
export interface CreditOpened {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  creditAccount: PublicKey;
  creditSequence: bigint;
  wallet: PublicKey;
  spender: PublicKey;
  limitPerJobCredits: bigint;
  limitPerDayCredits: bigint;
}

/** Credits were bought */
export interface CreditBought {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  creditAccount: PublicKey;
  creditSequence: bigint;
  wallet: PublicKey;
  buyer: PublicKey;
  credits: bigint;
  availableCredits: bigint;
  lockedCredits: bigint;
}

/** Credits were withdrawn as stablecoin */
export interface CreditWithdrawn {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  creditAccount: PublicKey;
  creditSequence: bigint;
  wallet: PublicKey;
  destination: PublicKey;
  credits: bigint;
  availableCredits: bigint;
  lockedCredits: bigint;
}

/** The wallet named its spender and the spender's limits */
export interface SpenderSet {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  creditAccount: PublicKey;
  creditSequence: bigint;
  wallet: PublicKey;
  spender: PublicKey;
  limitPerJobCredits: bigint;
  limitPerDayCredits: bigint;
}

/** The wallet set its spender's limits */
export interface LimitSet {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  creditAccount: PublicKey;
  creditSequence: bigint;
  wallet: PublicKey;
  limitPerJobCredits: bigint;
  limitPerDayCredits: bigint;
}

/** A worker was registered */
export interface WorkerRegistered {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  worker: PublicKey;
  workerSequence: bigint;
  authority: PublicKey;
  proofKey: PublicKey;
  payout: PublicKey;
  endpoint: string;
}

/** A worker's keys, payout or endpoint were changed */
export interface WorkerUpdated {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  worker: PublicKey;
  workerSequence: bigint;
  authority: PublicKey;
  proofKey: PublicKey;
  previousProofKey: PublicKey;
  proofKeyChangedAt: bigint;
  payout: PublicKey;
  endpoint: string;
}

/** A worker began to host a model */
export interface WorkerHosted {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  worker: PublicKey;
  workerSequence: bigint;
  model: PublicKey;
}

/** A worker stopped hosting a model */
export interface WorkerUnhosted {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  worker: PublicKey;
  workerSequence: bigint;
  model: PublicKey;
}

/** A worker was suspended or readmitted */
export interface WorkerSuspended {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  worker: PublicKey;
  workerSequence: bigint;
  suspended: boolean;
}

/** A worker left for good */
export interface WorkerDeregistered {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  worker: PublicKey;
  workerSequence: bigint;
}

/** Stake was deposited */
export interface StakeDeposited {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  worker: PublicKey;
  workerSequence: bigint;
  tokens: bigint;
  stakeTokens: bigint;
  unstakingTokens: bigint;
  unstakeReadyAt: bigint;
  unstakeCooldownSeconds: number;
}

/** Stake began its cooldown */
export interface StakeUnlocked {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  worker: PublicKey;
  workerSequence: bigint;
  tokens: bigint;
  stakeTokens: bigint;
  unstakingTokens: bigint;
  unstakeReadyAt: bigint;
}

/** Unstaked tokens were withdrawn */
export interface StakeWithdrawn {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  worker: PublicKey;
  workerSequence: bigint;
  tokens: bigint;
  stakeTokens: bigint;
  unstakingTokens: bigint;
  unstakeReadyAt: bigint;
  destination: PublicKey;
}

/** Slashed tokens were burnt */
export interface SlashBurned {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  treasurySequence: bigint;
  tokens: bigint;
  slashedStakeTokens: bigint;
}

/** Credits were locked for a job */
export interface JobLocked {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  job: PublicKey;
  jobSequence: number;
  jobId: Uint8Array;
  creditAccount: PublicKey;
  creditSequence: bigint;
  wallet: PublicKey;
  controller: PublicKey;
  model: PublicKey;
  modelId: string;
  tier: Tier;
  tokenLimit: number;
  creditsPerRequest: number;
  creditsPer1kTokens: number;
  longCompletionThresholdTokens: number;
  treasuryShareBasisPoints: number;
  slashTokens: number;
  jobTimeoutSeconds: number;
  disputeWindowSeconds: number;
  arbitrationWindowSeconds: number;
  rentPayer: PublicKey;
  vouched: boolean;
  /** Of this job */
  lockedCredits: bigint;
  availableCredits: bigint;
  accountLockedCredits: bigint;
  limitDay: number;
  spentDay: number;
  spentTodayCredits: bigint;
}

/** A worker was given the job */
export interface JobAcknowledged {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  job: PublicKey;
  jobSequence: number;
  jobId: Uint8Array;
  worker: PublicKey;
  attempt: number;
  /** Whose proof counts no more; zero when none was recorded, as the next two */
  voidedWorker: PublicKey;
  voidedAttempt: number;
  voidedOutputHash: Uint8Array;
}

/** The worker's proof was recorded */
export interface JobProven {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  job: PublicKey;
  jobSequence: number;
  jobId: Uint8Array;
  worker: PublicKey;
  attempt: number;
  /** The key that signed the proof */
  proofKey: PublicKey;
  outputHash: Uint8Array;
  promptTokens: number;
  completionTokens: number;
  statement: Uint8Array;
}

/** The job was charged and paid */
export interface JobSettled {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  job: PublicKey;
  jobSequence: number;
  jobId: Uint8Array;
  creditAccount: PublicKey;
  creditSequence: bigint;
  wallet: PublicKey;
  worker: PublicKey;
  workerSequence: bigint;
  /** The key that signed the settlement and the delivery receipt */
  settledBy: PublicKey;
  outputHash: Uint8Array;
  promptTokens: number;
  completionTokens: number;
  countedTokens: number;
  chargedCredits: bigint;
  returnedCredits: bigint;
  workerBaseUnits: bigint;
  /** False when the amount became claimable instead */
  workerPaid: boolean;
  treasuryBaseUnits: bigint;
  /** False when the amount became unpaid instead */
  treasuryPaid: boolean;
  workerClaimableBaseUnits: bigint;
  jobsSettled: bigint;
  treasurySequence: bigint;
  treasuryUnpaidBaseUnits: bigint;
  availableCredits: bigint;
  accountLockedCredits: bigint;
  spentTodayCredits: bigint;
}

/** The job was given to a worker, proven, charged and paid at once */
export interface JobCompleted {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  job: PublicKey;
  jobSequence: number;
  jobId: Uint8Array;
  creditAccount: PublicKey;
  creditSequence: bigint;
  wallet: PublicKey;
  worker: PublicKey;
  workerSequence: bigint;
  /** The key that signed the settlement and the delivery receipt */
  settledBy: PublicKey;
  attempt: number;
  /** The key that signed the proof */
  proofKey: PublicKey;
  outputHash: Uint8Array;
  promptTokens: number;
  completionTokens: number;
  statement: Uint8Array;
  countedTokens: number;
  chargedCredits: bigint;
  returnedCredits: bigint;
  workerBaseUnits: bigint;
  /** False when the amount became claimable instead */
  workerPaid: boolean;
  treasuryBaseUnits: bigint;
  /** False when the amount became unpaid instead */
  treasuryPaid: boolean;
  workerClaimableBaseUnits: bigint;
  jobsSettled: bigint;
  treasurySequence: bigint;
  treasuryUnpaidBaseUnits: bigint;
  availableCredits: bigint;
  accountLockedCredits: bigint;
  spentTodayCredits: bigint;
}

/** The controller gave the job up */
export interface JobFailed {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  job: PublicKey;
  jobSequence: number;
  jobId: Uint8Array;
  creditAccount: PublicKey;
  creditSequence: bigint;
  wallet: PublicKey;
  reason: FailureReason;
  returnedCredits: bigint;
  availableCredits: bigint;
  accountLockedCredits: bigint;
  spentTodayCredits: bigint;
}

/** The job timed out */
export interface JobRefunded {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  job: PublicKey;
  jobSequence: number;
  jobId: Uint8Array;
  creditAccount: PublicKey;
  creditSequence: bigint;
  wallet: PublicKey;
  returnedCredits: bigint;
  availableCredits: bigint;
  accountLockedCredits: bigint;
  spentTodayCredits: bigint;
}

/** A dispute was opened */
export interface JobDisputed {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  job: PublicKey;
  jobSequence: number;
  jobId: Uint8Array;
  creditAccount: PublicKey;
  creditSequence: bigint;
  wallet: PublicKey;
  treasurySequence: bigint;
  worker: PublicKey;
  clientHash: Uint8Array;
  outputHash: Uint8Array;
  chargedCredits: bigint;
  /** The most that an upheld dispute repays; set aside until the dispute ends */
  repayableCredits: bigint;
  disputedByWallet: boolean;
  openDisputes: number;
  disputedExposureBaseUnits: bigint;
  arbitrationEndsAt: bigint;
}

/** The wallet put its own hash in place of its controller's */
export interface DisputeAmended {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  job: PublicKey;
  jobSequence: number;
  jobId: Uint8Array;
  creditAccount: PublicKey;
  wallet: PublicKey;
  worker: PublicKey;
  clientHash: Uint8Array;
  outputHash: Uint8Array;
}

/** The arbiter decided a dispute */
export interface DisputeResolved {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  job: PublicKey;
  jobSequence: number;
  jobId: Uint8Array;
  creditAccount: PublicKey;
  creditSequence: bigint;
  wallet: PublicKey;
  worker: PublicKey;
  workerSequence: bigint;
  treasurySequence: bigint;
  verdict: DisputeOutcome;
  /** The sha256 of the verified messages; zero without evidence */
  evidenceHash: Uint8Array;
  repaidCredits: bigint;
  /** What stays charged */
  chargedCredits: bigint;
  owedCredits: bigint;
  openDisputes: number;
  owedBaseUnits: bigint;
  disputedExposureBaseUnits: bigint;
  slashedTokens: bigint;
  slashedStakeTokens: bigint;
  stakeTokens: bigint;
  unstakingTokens: bigint;
}

/** A dispute ran out undecided */
export interface DisputeExpired {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  job: PublicKey;
  jobSequence: number;
  jobId: Uint8Array;
  creditAccount: PublicKey;
  creditSequence: bigint;
  wallet: PublicKey;
  treasurySequence: bigint;
  openDisputes: number;
  disputedExposureBaseUnits: bigint;
}

/** A final job's account was closed */
export interface JobClosed {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  job: PublicKey;
  /** One past the last */
  jobSequence: number;
  jobId: Uint8Array;
  rentPayer: PublicKey;
  rentLamports: bigint;
}

/** A claim was paid */
export interface ClaimPaid {
  slot: bigint;
  /** Seconds since 1970, of the ledger */
  unixTime: bigint;
  claimant: PublicKey;
  claimantKind: ClaimantKind;
  claimantSequence: bigint;
  treasurySequence: bigint;
  baseUnits: bigint;
  credits: bigint;
  /** Still owed, claimable or unpaid */
  remainingBaseUnits: bigint;
  owedBaseUnits: bigint;
  unpaidBaseUnits: bigint;
  /** Zero unless the claimant is a credit account */
  availableCredits: bigint;
}

/** Every event, with its name. */
export type EscrowEvent =
  | { name: 'ConfigInitialized'; data: ConfigInitialized }
  | { name: 'ConfigUpdated'; data: ConfigUpdated }
  | { name: 'AuthorityProposed'; data: AuthorityProposed }
  | { name: 'AuthorityAccepted'; data: AuthorityAccepted }
  | { name: 'PauseSet'; data: PauseSet }
  | { name: 'TreasuryWithdrawn'; data: TreasuryWithdrawn }
  | { name: 'GatewayOpened'; data: GatewayOpened }
  | { name: 'GatewayUpdated'; data: GatewayUpdated }
  | { name: 'GatewayVouched'; data: GatewayVouched }
  | { name: 'ModelUpserted'; data: ModelUpserted }
  | { name: 'ModelRetired'; data: ModelRetired }
  | { name: 'CreditOpened'; data: CreditOpened }
  | { name: 'CreditBought'; data: CreditBought }
  | { name: 'CreditWithdrawn'; data: CreditWithdrawn }
  | { name: 'SpenderSet'; data: SpenderSet }
  | { name: 'LimitSet'; data: LimitSet }
  | { name: 'WorkerRegistered'; data: WorkerRegistered }
  | { name: 'WorkerUpdated'; data: WorkerUpdated }
  | { name: 'WorkerHosted'; data: WorkerHosted }
  | { name: 'WorkerUnhosted'; data: WorkerUnhosted }
  | { name: 'WorkerSuspended'; data: WorkerSuspended }
  | { name: 'WorkerDeregistered'; data: WorkerDeregistered }
  | { name: 'StakeDeposited'; data: StakeDeposited }
  | { name: 'StakeUnlocked'; data: StakeUnlocked }
  | { name: 'StakeWithdrawn'; data: StakeWithdrawn }
  | { name: 'SlashBurned'; data: SlashBurned }
  | { name: 'JobLocked'; data: JobLocked }
  | { name: 'JobAcknowledged'; data: JobAcknowledged }
  | { name: 'JobProven'; data: JobProven }
  | { name: 'JobSettled'; data: JobSettled }
  | { name: 'JobCompleted'; data: JobCompleted }
  | { name: 'JobFailed'; data: JobFailed }
  | { name: 'JobRefunded'; data: JobRefunded }
  | { name: 'JobDisputed'; data: JobDisputed }
  | { name: 'DisputeAmended'; data: DisputeAmended }
  | { name: 'DisputeResolved'; data: DisputeResolved }
  | { name: 'DisputeExpired'; data: DisputeExpired }
  | { name: 'JobClosed'; data: JobClosed }
  | { name: 'ClaimPaid'; data: ClaimPaid };

export type EscrowErrorName =
  | 'MissingAccount'
  | 'WrongAccountOwner'
  | 'WrongDiscriminator'
  | 'WrongAddress'
  | 'MissingSigner'
  | 'NotWritable'
  | 'InvalidInstructionData'
  | 'InvalidText'
  | 'ArithmeticOverflow'
  | 'Unauthorized'
  | 'WrongTokenAccount'
  | 'WrongMint'
  | 'DuplicateAccount'
  | 'WrongTokenProgram'
  | 'AlreadyInitialized'
  | 'ValueOutOfRange'
  | 'DepositsPaused'
  | 'LocksPaused'
  | 'GatewayStopped'
  | 'InsufficientCredits'
  | 'PriceChanged'
  | 'JobLimitExceeded'
  | 'DayLimitExceeded'
  | 'SpenderNotSet'
  | 'ModelRetired'
  | 'TokenLimitTooLarge'
  | 'JobIdInvalid'
  | 'JobIdTooOld'
  | 'JobIdInFuture'
  | 'NonCanonicalBump'
  | 'WrongJobStatus'
  | 'DeadlinePassed'
  | 'DeadlineNotReached'
  | 'AttemptNotNewer'
  | 'WorkerNotEligible'
  | 'WorkerDoesNotHostModel'
  | 'ProofWrongKey'
  | 'ProofWrongMessage'
  | 'ProofAlreadyGiven'
  | 'OutputMismatch'
  | 'NothingCounted'
  | 'OutputMatches'
  | 'InvalidReason'
  | 'DisputeWindowClosed'
  | 'HashesEqual'
  | 'DisputeLimitReached'
  | 'AlreadyDisputed'
  | 'InvalidVerdict'
  | 'ArbitrationClosed'
  | 'ArbitrationOpen'
  | 'JobNotClosable'
  | 'WrongRentPayer'
  | 'RetirementTooSoon'
  | 'TooManyModels'
  | 'AlreadyHosted'
  | 'NotHosted'
  | 'WrongWorkerStatus'
  | 'InsufficientStake'
  | 'CooldownNotOver'
  | 'NothingToClaim'
  | 'PayeeUnavailable'
  | 'TreasuryReserved'
  | 'CreditAccountFull'
  | 'NoPendingAuthority'
  | 'WrongLoader'
  | 'InvariantViolated'
  | 'EventAuthorityRequired'
  | 'UnknownInstruction'
  | 'VerdictTooEarly'
  | 'ProofKeyInUse'
  | 'SignatureInvalid';
