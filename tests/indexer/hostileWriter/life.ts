import { type Connection, type Keypair, type PublicKey, SystemProgram } from '@solana/web3.js';
import { FAILURE_REASONS } from '../../../programs/client/generated/vocabulary.ts';
import {
  claimPay,
  creditBuy,
  creditOpen,
  creditWithdraw,
  disputeExpire,
  fetchCreditAccount,
  gatewayOpen,
  gatewayUpdate,
  jobClose,
  jobDispute,
  jobRefund,
  limitSet,
  slashBurn,
  spenderSet,
  stakeDeposit,
  stakeUnlock,
  stakeWithdraw,
  verdictInstruction,
  workerDeregister,
  workerHost,
  workerRegister,
  workerUnhost,
  workerUpdate,
} from '../../../programs/client/index.ts';
import { NO_SPENDER, UNLIMITED } from '../../../testing/kit/setUp.ts';
import { HOSTILE_SIGNER } from '../../../testing/ledger/hostileCaller.ts';
import { cheapest, dearest, flat, HOSTED } from './catalog.ts';
import {
  CREDITS_MAX,
  ENDPOINTS,
  ODD_KEYS,
  ONES,
  STAKE_TOKENS_MAX,
  U32_MAX,
  U64_MAX,
  ZEROS,
} from './extremes.ts';
import type { Output, Stranger } from './stranger.ts';

const MOST: Output = { hash: ONES, tokens: U32_MAX };
const LEAST: Output = { hash: ZEROS, tokens: 0 };
const ATTEMPT_MAX = 0xff;
/** Every reason but the one that a test takes by itself. */
const REASONS = FAILURE_REASONS.filter((word) => word !== 'none' && word !== 'lock_late');
const UPHELD_WORKER = 'upheld_worker';
const REVIVAL_LAMPORTS = 10_000_000;

/** Jobs whose end waits for the ledger's clock. */
export interface OpenEnds {
  readonly failed: PublicKey;
  /** Disputed, to be upheld. */
  readonly upheld: PublicKey;
  /** Disputed, to expire. */
  readonly expiring: PublicKey;
}

/** Writes what can be written at once, each as large, long or odd as the program takes it. */
export async function writeExtremes(stranger: Stranger, place: number): Promise<OpenEnds> {
  await openAccounts(stranger);
  await enlist(stranger, place);
  const failed = await failJobs(stranger);
  await completeJobs(stranger);
  const [upheld, expiring] = await disputeJobs(stranger);
  return { failed, upheld, expiring };
}

async function openAccounts({ key, credits, send }: Stranger): Promise<void> {
  await send([gatewayOpen({ payer: key, operator: key, signers: ODD_KEYS })]);
  await send([
    gatewayUpdate({ operator: key, signers: [], stopped: true }),
    creditOpen({ payer: key, wallet: key, spender: ODD_KEYS[0], ...UNLIMITED }),
    limitSet({ wallet: key, limitPerJobCredits: U64_MAX, limitPerDayCredits: U64_MAX }),
    limitSet({ wallet: key, limitPerJobCredits: 0n, limitPerDayCredits: 0n }),
    spenderSet({ wallet: key, ...NO_SPENDER }),
  ]);
  await send([
    creditBuy({ buyer: key, buyerTokenAccount: credits, wallet: key, credits: CREDITS_MAX }),
    creditWithdraw({ wallet: key, destination: credits, credits: 1n }),
  ]);
}

async function enlist(stranger: Stranger, place: number): Promise<void> {
  const { key: authority, worker, proofKey, credits: payout, stakes, send } = stranger;
  const endpoint = (index: number) => ENDPOINTS[index % ENDPOINTS.length] as string;
  await send([
    workerRegister({ authority, payout, proofKey: HOSTILE_SIGNER, endpoint: endpoint(place) }),
  ]);
  await send([workerUpdate({ authority, payout, proofKey, endpoint: endpoint(place + 1) })]);
  await send([
    stakeDeposit({
      ...{ depositor: authority, depositorTokenAccount: stakes, worker },
      tokens: STAKE_TOKENS_MAX,
    }),
  ]);
  const host = ({ id }: { id: string }) => workerHost({ authority, modelId: id });
  await send(HOSTED.slice(0, HOSTED.length / 2).map(host));
  await send(HOSTED.slice(HOSTED.length / 2).map(host));
  await send([workerUnhost({ authority, modelId: dearest.id }), host(dearest)]);
}

/** @returns one of them */
async function failJobs(stranger: Stranger): Promise<PublicKey> {
  const { lock, acknowledge, prove, fail } = stranger;
  await fail(await lock(dearest), 'lock_late', LEAST);
  for (const reason of REASONS) await fail(await lock(cheapest), reason, MOST);
  const proven = await lock(flat);
  await acknowledge(proven, 1);
  await acknowledge(proven, ATTEMPT_MAX);
  await prove(proven, ATTEMPT_MAX, LEAST);
  await fail(proven, 'output_mismatch', MOST);
  return proven;
}

async function completeJobs({ lock, acknowledge, complete }: Stranger): Promise<void> {
  await complete(await lock(flat), 1, LEAST);
  const acknowledged = await lock(cheapest);
  await acknowledge(acknowledged, 1);
  await complete(acknowledged, ATTEMPT_MAX, MOST);
}

async function disputeJobs(stranger: Stranger): Promise<[PublicKey, PublicKey]> {
  const { key, creditAccount, lock, acknowledge, prove, settle, send } = stranger;
  const run = async (output: Output, clientHash: Uint8Array) => {
    const job = await lock(flat);
    await acknowledge(job, ATTEMPT_MAX);
    await prove(job, ATTEMPT_MAX, output);
    await settle(job, { ...output, tokens: U32_MAX });
    await send([jobDispute({ signer: key, job, creditAccount, clientHash })]);
    return job;
  };
  return [await run(MOST, ZEROS), await run(LEAST, ONES)];
}

/**
 * Has a dispute decided, burns what was slashed, and leaves a job and a part of the stake to themselves.
 *
 * @returns the job
 */
export async function leaveOpen(
  { key, creditAccount, worker, lock, contradict, send }: Stranger,
  { upheld: job }: OpenEnds,
  { arbiter, mints }: { arbiter: Keypair; mints: { stake: PublicKey } },
): Promise<PublicKey> {
  const named = { arbiter: arbiter.publicKey, job, creditAccount, worker };
  const evidence = await contradict(job);
  await send([verdictInstruction(evidence, { ...named, verdict: UPHELD_WORKER })], [arbiter]);
  await send([slashBurn({ stakeMint: mints.stake })]);
  await send([claimPay({ claimant: creditAccount })]);
  await send([stakeUnlock({ authority: key, tokens: 1n })]);
  return lock(flat);
}

/** Closes jobs, and sends lamports after one of them in the same transaction. */
export async function endOverdue(
  { key, creditAccount, send }: Stranger,
  { failed }: OpenEnds,
  overdue: PublicKey,
): Promise<void> {
  await send([
    jobRefund({ job: overdue, creditAccount }),
    jobClose({ job: overdue, rentPayer: key }),
    SystemProgram.transfer({ fromPubkey: key, toPubkey: overdue, lamports: REVIVAL_LAMPORTS }),
  ]);
  await send([jobClose({ job: failed, rentPayer: key })]);
}

/** Lets a dispute expire, and takes out all that is left. */
export async function leave(
  { key, creditAccount, credits, stakes, send }: Stranger,
  { expiring }: OpenEnds,
  connection: Connection,
): Promise<void> {
  await send([disputeExpire({ job: expiring, creditAccount })]);
  const account = await fetchCreditAccount(connection, creditAccount, { commitment: 'confirmed' });
  await send([
    creditWithdraw({
      ...{ wallet: key, destination: credits },
      credits: account?.availableCredits ?? 0n,
    }),
    stakeWithdraw({ authority: key, destination: stakes }),
    workerDeregister({ authority: key }),
  ]);
}
