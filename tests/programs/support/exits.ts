import type { TransactionInstruction } from '@solana/web3.js';
import {
  claimPay,
  creditWithdraw,
  disputeExpire,
  jobClose,
  stakeUnlock,
  stakeWithdraw,
} from '../../../programs/client/index.ts';
import { pass } from './expectations.ts';
import { complete, dispute, fail, jobIn, refund, settle } from './jobs.ts';
import { composeVerdict } from './verdicts.ts';
import { send, type World } from './world.ts';

const DAY = 86_400n;

/** One job for each way out, none of them taken yet. */
export const openJobs = async (world: World) => ({
  settling: await jobIn(world, 'settling'),
  // To be settled at once.
  given: await jobIn(world, 'processing'),
  processing: await jobIn(world, 'processing'),
  pending: await jobIn(world, 'pending'),
  settled: await jobIn(world, 'settled'),
  // To be decided, and to be left undecided.
  disputed: await jobIn(world, 'disputed'),
  undecided: await jobIn(world, 'disputed'),
});

/** What became of each way out: `works`, or the reason of its refusal. */
export type Exits = Awaited<ReturnType<typeof takeExits>>;

/**
 * Takes every way out, each at its time.
 *
 * @param through how each instruction is sent; as it is unless said otherwise
 */
export async function takeExits(
  world: World,
  jobs: Awaited<ReturnType<typeof openJobs>>,
  through: (instruction: TransactionInstruction) => TransactionInstruction = (plain) => plain,
) {
  const { chain, wallet, workerAuthority, creditAccount } = world;
  const attempt = (instruction: TransactionInstruction): Promise<string> =>
    send(world, through(instruction)).then(
      () => 'works',
      (error: Error) => error.message,
    );
  const withdrawal = { wallet: wallet.publicKey, destination: world.walletTokens, credits: 1n };
  const authority = workerAuthority.publicKey;

  const atOnce = {
    settle: await attempt(settle(world, jobs.settling)),
    complete: await attempt(complete(world, jobs.given)),
    fail: await attempt(fail(world, jobs.processing)),
    dispute: await attempt(dispute(world, jobs.settled)),
  };
  await pass(world, 61n);
  const afterWindow = {
    resolve: await attempt(await composeVerdict(world, jobs.disputed, 'upheld_worker')),
    withdraw: await attempt(creditWithdraw(withdrawal)),
    unlock: await attempt(stakeUnlock({ authority, tokens: 100n })),
    claim: await attempt(claimPay({ claimant: creditAccount })),
  };
  await pass(world, 60n);
  const afterTimeout = {
    refund: await attempt(refund(world, jobs.pending)),
    close: await attempt(jobClose({ job: jobs.processing, rentPayer: chain.payer.publicKey })),
  };
  await pass(world, DAY);
  const expire = await attempt(disputeExpire({ job: jobs.undecided, creditAccount }));
  await pass(world, DAY);
  const destination = world.stakeTokens;
  const unstake = await attempt(stakeWithdraw({ authority, destination }));
  return { ...atOnce, ...afterWindow, ...afterTimeout, expire, unstake };
}
