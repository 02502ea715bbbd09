// Generated from the Rust source by programs/tools/idl.ts: do not edit.

import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { createAddresses } from '../addresses.ts';
import { buildInstruction, type Deployment } from '../buildInstruction.ts';
import type { DisputeOutcome, FailureReason, Tier } from './vocabulary.ts';

export interface ConfigInitializeInput extends Deployment {
  /** Pays the rent and becomes the authority */
  readonly authority: PublicKey;
  /** The stablecoin, with `CREDIT_MINT_DECIMALS` decimals */
  readonly creditMint: PublicKey;
  /** The token that workers stake, with at most `STAKE_DECIMALS_MAX` decimals */
  readonly stakeMint: PublicKey;
  /** The program's ProgramData under the upgradeable loader, else the program itself */
  readonly programData: PublicKey;
  /** Decides disputes; neither the zero key nor the authority */
  readonly arbiter: PublicKey;
  /** The treasury's part of each charge, at most `BASIS_POINTS` */
  readonly treasuryShareBasisPoints: number;
  /** From `JOB_DECIDED_SECONDS` to `UNSTAKE_COOLDOWN_SECONDS_MAX` */
  readonly unstakeCooldownSeconds: number;
  /** How many open disputes a controller may bring a wallet to, at least 1 */
  readonly openDisputesMax: number;
  /** A worker with less is given no job; from 1 to `STAKE_TOKENS_MAX` */
  readonly minimumStakeTokens: bigint;
  /** What a verdict against a worker takes, at most `minimum_stake_tokens` */
  readonly slashTokens: number;
  /** The most that one job may lock, from 1 to `CREDITS_MAX` */
  readonly jobCreditsMax: bigint;
  /** The most that one credit account may hold, from 1 to `CREDITS_MAX` */
  readonly creditAccountCreditsMax: bigint;
  /** What a withdrawal leaves in the treasury vault besides its debts, at most `CREDITS_MAX`. Lowered, it counts only after `TREASURY_FLOOR_NOTICE_SECONDS` */
  readonly treasuryFloorCredits: bigint;
}

/** Creates the configuration, the treasury's account and the three vaults, once. */
export function configInitialize(input: ConfigInitializeInput): TransactionInstruction {
  return buildInstruction('config_initialize', input);
}

export interface ConfigUpdateInput extends Deployment {
  readonly authority: PublicKey;
  /** Decides disputes; neither the zero key nor the authority */
  readonly arbiter: PublicKey;
  /** The treasury's part of each charge, at most `BASIS_POINTS` */
  readonly treasuryShareBasisPoints: number;
  /** From `JOB_DECIDED_SECONDS` to `UNSTAKE_COOLDOWN_SECONDS_MAX` */
  readonly unstakeCooldownSeconds: number;
  /** How many open disputes a controller may bring a wallet to, at least 1 */
  readonly openDisputesMax: number;
  /** A worker with less is given no job; from 1 to `STAKE_TOKENS_MAX` */
  readonly minimumStakeTokens: bigint;
  /** What a verdict against a worker takes, at most `minimum_stake_tokens` */
  readonly slashTokens: number;
  /** The most that one job may lock, from 1 to `CREDITS_MAX` */
  readonly jobCreditsMax: bigint;
  /** The most that one credit account may hold, from 1 to `CREDITS_MAX` */
  readonly creditAccountCreditsMax: bigint;
  /** What a withdrawal leaves in the treasury vault besides its debts, at most `CREDITS_MAX`. Lowered, it counts only after `TREASURY_FLOOR_NOTICE_SECONDS` */
  readonly treasuryFloorCredits: bigint;
}

/** Changes what the authority may decide; jobs in flight keep their terms. */
export function configUpdate(input: ConfigUpdateInput): TransactionInstruction {
  return buildInstruction('config_update', input);
}

export interface AuthorityProposeInput extends Deployment {
  readonly authority: PublicKey;
  /** Any key but the arbiter */
  readonly pendingAuthority: PublicKey;
}

/** Proposes a new authority, which has to accept; the zero key withdraws the proposal. */
export function authorityPropose(input: AuthorityProposeInput): TransactionInstruction {
  return buildInstruction('authority_propose', input);
}

export interface AuthorityAcceptInput extends Deployment {
  /** The proposed key */
  readonly pendingAuthority: PublicKey;
}

/** Makes the proposed authority the authority. */
export function authorityAccept(input: AuthorityAcceptInput): TransactionInstruction {
  return buildInstruction('authority_accept', input);
}

export interface PauseSetInput extends Deployment {
  readonly authority: PublicKey;
  /** Whether `credit_buy` is refused */
  readonly depositsPaused: boolean;
  /** Whether `job_lock` is refused */
  readonly locksPaused: boolean;
}

/** Pauses or resumes purchases and locks. No exit can be paused. */
export function pauseSet(input: PauseSetInput): TransactionInstruction {
  return buildInstruction('pause_set', input);
}

export interface TreasuryWithdrawInput extends Deployment {
  readonly authority: PublicKey;
  /** A token account of the credit mint, none of the vaults */
  readonly destination: PublicKey;
  /** At least 1 */
  readonly baseUnits: bigint;
}

/** Pays out of the treasury vault, which keeps what is owed, what open disputes may cost and the configuration's floor. */
export function treasuryWithdraw(input: TreasuryWithdrawInput): TransactionInstruction {
  return buildInstruction('treasury_withdraw', input);
}

export interface GatewayOpenInput extends Deployment {
  /** Pays the rent */
  readonly payer: PublicKey;
  /** The cold key that governs the gateway */
  readonly operator: PublicKey;
  /** The hot keys: from 1 to 8, all different */
  readonly signers: PublicKey[];
}

/** Opens the gateway of an operator. */
export function gatewayOpen(input: GatewayOpenInput): TransactionInstruction {
  const addresses = createAddresses(input.programId);
  const gateway = addresses.gateway(input.operator);
  return buildInstruction('gateway_open', { ...input, gateway });
}

export interface GatewayUpdateInput extends Deployment {
  readonly operator: PublicKey;
  /** The hot keys, all different: at most 8, and none at all to revoke every one */
  readonly signers: PublicKey[];
  /** Whether the gateway may lock nothing */
  readonly stopped: boolean;
}

/** Replaces a gateway's signers and its stop flag: one transaction revokes a hot key for every wallet. */
export function gatewayUpdate(input: GatewayUpdateInput): TransactionInstruction {
  const addresses = createAddresses(input.programId);
  const gateway = addresses.gateway(input.operator);
  return buildInstruction('gateway_update', { ...input, gateway });
}

export interface GatewayVouchInput extends Deployment {
  readonly authority: PublicKey;
  readonly gateway: PublicKey;
  /** Whether jobs locked from now on are repaid in full */
  readonly vouched: boolean;
}

/** Sets whether the authority vouches for a gateway. */
export function gatewayVouch(input: GatewayVouchInput): TransactionInstruction {
  return buildInstruction('gateway_vouch', input);
}

export interface ModelUpsertInput extends Deployment {
  /** Pays a new model's rent */
  readonly authority: PublicKey;
  /** From 1 to 64 bytes of printable ASCII */
  readonly id: string;
  readonly tier: Tier;
  /** The parameter count as shown, from 1 to 16 bytes of printable ASCII */
  readonly label: string;
  /** Who made the model, from 1 to 32 bytes of printable ASCII */
  readonly originator: string;
  /** At least 1 */
  readonly contextWindowTokens: number;
  /** The price of a completion up to the threshold, at least 1 */
  readonly creditsPerRequest: number;
  /** The price of 1,000 tokens of a longer completion, at least 1 */
  readonly creditsPer1kTokens: number;
  /** A completion of more tokens is a long one */
  readonly longCompletionThresholdTokens: number;
  /** The sha256 of the model's card, or zeros */
  readonly cardHash: Uint8Array;
}

/** Adds a model or changes its description and prices. */
export function modelUpsert(input: ModelUpsertInput): TransactionInstruction {
  const addresses = createAddresses(input.programId);
  const model = addresses.model(input.id);
  return buildInstruction('model_upsert', { ...input, model });
}

export interface ModelRetireInput extends Deployment {
  readonly authority: PublicKey;
  /** The id of the model in the catalog */
  readonly modelId: string;
  /** At least `RETIREMENT_NOTICE_SECONDS` ahead; zero takes an announcement back */
  readonly retiresAt: bigint;
}

/** Announces a model's retirement at least 30 days ahead, or takes it back with zero. */
export function modelRetire(input: ModelRetireInput): TransactionInstruction {
  const addresses = createAddresses(input.programId);
  const model = addresses.model(input.modelId);
  return buildInstruction('model_retire', { ...input, model });
}

export interface CreditOpenInput extends Deployment {
  /** Pays the rent */
  readonly payer: PublicKey;
  /** Signs only to name a spender */
  readonly wallet: PublicKey;
  /** A key or a gateway; the zero key names none */
  readonly spender: PublicKey;
  /** The largest number means no limit; zero without a spender */
  readonly limitPerJobCredits: bigint;
  /** The largest number means no limit; zero without a spender */
  readonly limitPerDayCredits: bigint;
}

/** Opens a wallet's credit account. Anybody may pay; only the wallet's signature names a spender. */
export function creditOpen(input: CreditOpenInput): TransactionInstruction {
  const addresses = createAddresses(input.programId);
  const creditAccount = addresses.creditAccount(input.wallet);
  return buildInstruction('credit_open', { ...input, creditAccount });
}

export interface CreditBuyInput extends Deployment {
  /** Owns the tokens, or is their delegate */
  readonly buyer: PublicKey;
  /** A token account of the credit mint, none of the vaults */
  readonly buyerTokenAccount: PublicKey;
  /** Owns the credit account */
  readonly wallet: PublicKey;
  /** From 1 to `CREDITS_MAX` */
  readonly credits: bigint;
}

/** Buys credits for a wallet. Anybody may pay. */
export function creditBuy(input: CreditBuyInput): TransactionInstruction {
  const addresses = createAddresses(input.programId);
  const creditAccount = addresses.creditAccount(input.wallet);
  return buildInstruction('credit_buy', { ...input, creditAccount });
}

export interface CreditWithdrawInput extends Deployment {
  /** Owns the credit account */
  readonly wallet: PublicKey;
  /** A token account of the credit mint, none of the vaults */
  readonly destination: PublicKey;
  /** From 1 to `CREDITS_MAX`, at most the available credits */
  readonly credits: bigint;
}

/** Turns available credits back into stablecoin. */
export function creditWithdraw(input: CreditWithdrawInput): TransactionInstruction {
  const addresses = createAddresses(input.programId);
  const creditAccount = addresses.creditAccount(input.wallet);
  return buildInstruction('credit_withdraw', { ...input, creditAccount });
}

export interface SpenderSetInput extends Deployment {
  /** Owns the credit account */
  readonly wallet: PublicKey;
  /** A key or a gateway; the zero key names none */
  readonly spender: PublicKey;
  /** The largest number means no limit; zero without a spender */
  readonly limitPerJobCredits: bigint;
  /** The largest number means no limit; zero without a spender */
  readonly limitPerDayCredits: bigint;
}

/** Names the key or gateway that may lock the wallet's credits, and its limits; the zero key names none. */
export function spenderSet(input: SpenderSetInput): TransactionInstruction {
  const addresses = createAddresses(input.programId);
  const creditAccount = addresses.creditAccount(input.wallet);
  return buildInstruction('spender_set', { ...input, creditAccount });
}

export interface LimitSetInput extends Deployment {
  /** Owns the credit account */
  readonly wallet: PublicKey;
  /** The largest number means no limit */
  readonly limitPerJobCredits: bigint;
  /** The largest number means no limit */
  readonly limitPerDayCredits: bigint;
}

/** Sets the limits that bind the spender. */
export function limitSet(input: LimitSetInput): TransactionInstruction {
  const addresses = createAddresses(input.programId);
  const creditAccount = addresses.creditAccount(input.wallet);
  return buildInstruction('limit_set', { ...input, creditAccount });
}

export interface WorkerRegisterInput extends Deployment {
  /** Pays the rent, and governs the worker from then on */
  readonly authority: PublicKey;
  /** A token account of the credit mint, none of the vaults */
  readonly payout: PublicKey;
  /** The ed25519 key that signs proofs; not the zero key */
  readonly proofKey: PublicKey;
  /** Where jobs are posted, from 1 to 128 bytes of printable ASCII */
  readonly endpoint: string;
}

/** Registers a worker. */
export function workerRegister(input: WorkerRegisterInput): TransactionInstruction {
  const addresses = createAddresses(input.programId);
  const worker = addresses.worker(input.authority);
  return buildInstruction('worker_register', { ...input, worker });
}

export interface WorkerUpdateInput extends Deployment {
  readonly authority: PublicKey;
  /** A token account of the credit mint, none of the vaults */
  readonly payout: PublicKey;
  /** The ed25519 key that signs proofs; not the zero key */
  readonly proofKey: PublicKey;
  /** Where jobs are posted, from 1 to 128 bytes of printable ASCII */
  readonly endpoint: string;
}

/** Changes a worker's proof key, payout account and endpoint, even after it left: pay may still wait for it. */
export function workerUpdate(input: WorkerUpdateInput): TransactionInstruction {
  const addresses = createAddresses(input.programId);
  const worker = addresses.worker(input.authority);
  return buildInstruction('worker_update', { ...input, worker });
}

export interface WorkerHostInput extends Deployment {
  readonly authority: PublicKey;
  /** The id of the model in the catalog */
  readonly modelId: string;
}

/** Adds a model to those the worker hosts. */
export function workerHost(input: WorkerHostInput): TransactionInstruction {
  const addresses = createAddresses(input.programId);
  const worker = addresses.worker(input.authority);
  const model = addresses.model(input.modelId);
  return buildInstruction('worker_host', { ...input, worker, model });
}

export interface WorkerUnhostInput extends Deployment {
  readonly authority: PublicKey;
  /** The id of the model in the catalog */
  readonly modelId: string;
}

/** Removes a model from those the worker hosts. */
export function workerUnhost(input: WorkerUnhostInput): TransactionInstruction {
  const addresses = createAddresses(input.programId);
  const worker = addresses.worker(input.authority);
  const model = addresses.model(input.modelId);
  return buildInstruction('worker_unhost', { ...input, worker, model });
}

export interface WorkerSuspendInput extends Deployment {
  readonly arbiter: PublicKey;
  readonly worker: PublicKey;
  /** True suspends an active worker, false readmits a suspended one */
  readonly suspended: boolean;
}

/** Keeps a worker from new jobs, or readmits it. */
export function workerSuspend(input: WorkerSuspendInput): TransactionInstruction {
  return buildInstruction('worker_suspend', input);
}

export interface WorkerDeregisterInput extends Deployment {
  readonly authority: PublicKey;
}

/** Takes a worker out of service for good; its stake can be unlocked and withdrawn. */
export function workerDeregister(input: WorkerDeregisterInput): TransactionInstruction {
  const addresses = createAddresses(input.programId);
  const worker = addresses.worker(input.authority);
  return buildInstruction('worker_deregister', { ...input, worker });
}

export interface StakeDepositInput extends Deployment {
  /** Owns the tokens, or is their delegate */
  readonly depositor: PublicKey;
  /** A token account of the stake mint, none of the vaults */
  readonly depositorTokenAccount: PublicKey;
  readonly worker: PublicKey;
  /** At least 1; with what the worker has, at most `STAKE_TOKENS_MAX` */
  readonly tokens: bigint;
}

/** Adds whole tokens to a worker's stake. Anybody may pay. */
export function stakeDeposit(input: StakeDepositInput): TransactionInstruction {
  return buildInstruction('stake_deposit', input);
}

export interface StakeUnlockInput extends Deployment {
  readonly authority: PublicKey;
  /** At least 1, at most what is at stake */
  readonly tokens: bigint;
}

/** Starts the cooldown of whole tokens; while any are unstaking, the worker gets no job. */
export function stakeUnlock(input: StakeUnlockInput): TransactionInstruction {
  const addresses = createAddresses(input.programId);
  const worker = addresses.worker(input.authority);
  return buildInstruction('stake_unlock', { ...input, worker });
}

export interface StakeWithdrawInput extends Deployment {
  readonly authority: PublicKey;
  /** A token account of the stake mint, none of the vaults */
  readonly destination: PublicKey;
}

/** Pays out the unstaking tokens after their cooldown. */
export function stakeWithdraw(input: StakeWithdrawInput): TransactionInstruction {
  const addresses = createAddresses(input.programId);
  const worker = addresses.worker(input.authority);
  return buildInstruction('stake_withdraw', { ...input, worker });
}

export interface SlashBurnInput extends Deployment {
  readonly stakeMint: PublicKey;
}

/** Burns the tokens that verdicts took from workers. Anybody may call it. */
export function slashBurn(input: SlashBurnInput): TransactionInstruction {
  return buildInstruction('slash_burn', input);
}

export interface JobLockInput extends Deployment {
  /** Pays the rent and is repaid when the job is closed */
  readonly payer: PublicKey;
  /** The wallet, its spender or a signer of its gateway */
  readonly signer: PublicKey;
  /** Given when the spender is a gateway */
  readonly gateway?: PublicKey | undefined;
  /** Owns the credit account */
  readonly wallet: PublicKey;
  /** The id of the model in the catalog */
  readonly modelId: string;
  /** A UUID of version 7 in network order, with a time close to the ledger's */
  readonly jobId: Uint8Array;
  /** The most tokens the answer may have, from 1 to the model's context window */
  readonly tokenLimit: number;
  /** The highest price the caller accepts */
  readonly maxCredits: bigint;
}

/** Locks the price of one job; the signer, or its gateway, becomes the job's controller. */
export function jobLock(input: JobLockInput): TransactionInstruction {
  const addresses = createAddresses(input.programId);
  const creditAccount = addresses.creditAccount(input.wallet);
  const model = addresses.model(input.modelId);
  const job = addresses.job(creditAccount, input.jobId);
  return buildInstruction('job_lock', { ...input, creditAccount, model, job });
}

export interface JobAcknowledgeInput extends Deployment {
  /** The controller, or one of its signers */
  readonly signer: PublicKey;
  /** Given when the controller is a gateway */
  readonly gateway?: PublicKey | undefined;
  readonly job: PublicKey;
  /** The worker that is given the job */
  readonly worker: PublicKey;
  /** From 1; above the recorded attempt, or a repetition of it */
  readonly attempt: number;
}

/** Records which worker was given the job. The same worker and attempt again changes nothing. */
export function jobAcknowledge(input: JobAcknowledgeInput): TransactionInstruction {
  return buildInstruction('job_acknowledge', input);
}

export interface JobProveInput extends Deployment {
  readonly job: PublicKey;
  /** The acknowledged worker */
  readonly worker: PublicKey;
  /** The sha256 of the worker's output */
  readonly outputHash: Uint8Array;
  /** As the worker counted */
  readonly promptTokens: number;
  /** As the worker counted; bounds the charge */
  readonly completionTokens: number;
  /** Binds question and answer; compared and never opened */
  readonly statement: Uint8Array;
  /** The proof key's signature of the proof's sha256 */
  readonly signature: Uint8Array;
}

/** Records the worker's signed proof. Anybody may submit it; the same proof again changes nothing. */
export function jobProve(input: JobProveInput): TransactionInstruction {
  return buildInstruction('job_prove', input);
}

export interface JobSettleInput extends Deployment {
  /** The controller, or one of its signers */
  readonly signer: PublicKey;
  /** Given when the controller is a gateway */
  readonly gateway?: PublicKey | undefined;
  readonly job: PublicKey;
  /** The job's credit account */
  readonly creditAccount: PublicKey;
  /** The job's worker */
  readonly worker: PublicKey;
  /** The worker's payout account, in whatever state it is */
  readonly workerPayout: PublicKey;
  /** The sha256 of what was delivered; has to be the proven one */
  readonly deliveredHash: Uint8Array;
  /** The tokens counted by the controller, at least 1; the lower of these and the proven is charged */
  readonly countedTokens: number;
}

/** Charges a proven job and pays worker and treasury. What cannot be paid now becomes claimable. */
export function jobSettle(input: JobSettleInput): TransactionInstruction {
  return buildInstruction('job_settle', input);
}

export interface JobCompleteInput extends Deployment {
  /** The controller, or one of its signers */
  readonly signer: PublicKey;
  /** Given when the controller is a gateway */
  readonly gateway?: PublicKey | undefined;
  readonly job: PublicKey;
  /** The job's credit account */
  readonly creditAccount: PublicKey;
  /** The job's worker */
  readonly worker: PublicKey;
  /** The worker's payout account, in whatever state it is */
  readonly workerPayout: PublicKey;
  /** From 1; the recorded attempt, or a later one */
  readonly attempt: number;
  /** The sha256 of the worker's output, which was delivered */
  readonly outputHash: Uint8Array;
  /** As the worker counted */
  readonly promptTokens: number;
  /** As the worker counted */
  readonly completionTokens: number;
  /** The tokens counted by the controller, at least 1; the lower of these and the proven is charged */
  readonly countedTokens: number;
  /** Binds question and answer; compared and never opened */
  readonly statement: Uint8Array;
  /** The proof key's signature of the proof's sha256 */
  readonly signature: Uint8Array;
}

/** Gives a job to a worker, records the worker's proof, charges and pays, all at once: what `job_acknowledge`, `job_prove` and `job_settle` do one by one. */
export function jobComplete(input: JobCompleteInput): TransactionInstruction {
  return buildInstruction('job_complete', input);
}

export interface JobFailInput extends Deployment {
  /** The controller, or one of its signers */
  readonly signer: PublicKey;
  /** Given when the controller is a gateway */
  readonly gateway?: PublicKey | undefined;
  readonly job: PublicKey;
  /** The job's credit account */
  readonly creditAccount: PublicKey;
  /** Any but none */
  readonly reason: FailureReason;
  /** Looked at only once a proof is recorded */
  readonly deliveredHash: Uint8Array;
  /** Looked at only once a proof is recorded */
  readonly countedTokens: number;
}

/** Gives a job up and returns its lock. A proven job fails only if the delivered output differs or is empty. */
export function jobFail(input: JobFailInput): TransactionInstruction {
  return buildInstruction('job_fail', input);
}

export interface JobRefundInput extends Deployment {
  readonly job: PublicKey;
  /** The job's credit account */
  readonly creditAccount: PublicKey;
}

/** Returns the lock of a job that timed out. Anybody may call it. */
export function jobRefund(input: JobRefundInput): TransactionInstruction {
  return buildInstruction('job_refund', input);
}

export interface JobDisputeInput extends Deployment {
  /** The controller, one of its signers, or the wallet */
  readonly signer: PublicKey;
  /** Given when the controller is a gateway */
  readonly gateway?: PublicKey | undefined;
  readonly job: PublicKey;
  /** The job's credit account */
  readonly creditAccount: PublicKey;
  /** The sha256 of what the client received; differs from the proven one */
  readonly clientHash: Uint8Array;
}

/** Disputes a settled job with the hash the client received. */
export function jobDispute(input: JobDisputeInput): TransactionInstruction {
  return buildInstruction('job_dispute', input);
}

export interface DisputeResolveInput extends Deployment {
  readonly arbiter: PublicKey;
  /** Given when a signer of the controller, a gateway, signed the receipt */
  readonly gateway?: PublicKey | undefined;
  readonly job: PublicKey;
  /** The job's credit account */
  readonly creditAccount: PublicKey;
  /** The job's worker */
  readonly worker: PublicKey;
  /** rejected, upheld_gateway or upheld_worker */
  readonly verdict: DisputeOutcome;
  /** Signed both proofs, or the receipt */
  readonly key: PublicKey;
  /** Of the recorded proof; where a receipt has its hash, too, as the next */
  readonly recordedStatement: Uint8Array;
  /** Of the recorded proof */
  readonly recordedSignature: Uint8Array;
  /** Of the other proof, or of the receipt */
  readonly outputHash: Uint8Array;
  /** Of the other proof; for upheld_worker, as the next two */
  readonly promptTokens: number;
  /** Of the other proof */
  readonly completionTokens: number;
  /** Of the other proof, or of the receipt */
  readonly statement: Uint8Array;
  /** Of the other proof, or of the receipt */
  readonly signature: Uint8Array;
}

/** Decides a dispute. The arbiter signs every verdict, and one for the client needs evidence. */
export function disputeResolve(input: DisputeResolveInput): TransactionInstruction {
  return buildInstruction('dispute_resolve', input);
}

export interface DisputeExpireInput extends Deployment {
  readonly job: PublicKey;
  /** The job's credit account */
  readonly creditAccount: PublicKey;
}

/** Ends a dispute that was not decided in time. Anybody may call it. */
export function disputeExpire(input: DisputeExpireInput): TransactionInstruction {
  return buildInstruction('dispute_expire', input);
}

export interface JobCloseInput extends Deployment {
  readonly job: PublicKey;
  /** The account that paid the rent at the lock */
  readonly rentPayer: PublicKey;
}

/** Closes a final job's account and repays its rent. Anybody may call it. */
export function jobClose(input: JobCloseInput): TransactionInstruction {
  return buildInstruction('job_close', input);
}

export interface ClaimPayInput extends Deployment {
  /** A CreditAccount, a Worker or the Treasury */
  readonly claimant: PublicKey;
  /** A worker's payout account; for the others the treasury vault */
  readonly payout: PublicKey;
}

/** Pays what a wallet is owed, a worker can claim or the treasury was not paid. Anybody may call it. */
export function claimPay(input: ClaimPayInput): TransactionInstruction {
  return buildInstruction('claim_pay', input);
}
