import type { Keypair, TransactionInstruction } from '@solana/web3.js';
import {
  authorityAccept,
  authorityPropose,
  claimPay,
  configUpdate,
  creditBuy,
  creditOpen,
  creditWithdraw,
  disputeExpire,
  gatewayOpen,
  gatewayUpdate,
  gatewayVouch,
  jobClose,
  limitSet,
  modelRetire,
  pauseSet,
  slashBurn,
  spenderSet,
  stakeDeposit,
  stakeUnlock,
  stakeWithdraw,
  treasuryWithdraw,
  workerDeregister,
  workerHost,
  workerRegister,
  workerSuspend,
  workerUnhost,
  workerUpdate,
} from '../../../programs/client/index.ts';
import { type Chain, startChain } from '../../../testing/chain.ts';
import {
  acknowledge,
  complete,
  composeLock,
  dispute,
  fail,
  jobIn,
  lockJob,
  prove,
  refund,
  settle,
} from './jobs.ts';
import { composeVerdict, passDisputeWindow } from './verdicts.ts';
import {
  addresses,
  CREDITS,
  createBareWorld,
  createWorld,
  initializeInstruction,
  MODEL,
  modelInstruction,
  SETTINGS,
  signersOf,
  type World,
} from './world.ts';

const DAY = 86_400n;

/** One instruction that is about to succeed. The visitor has to send it. */
export interface Step {
  world: World;
  /** The instruction's name in the IDL. */
  name: string;
  /** The named instruction alone. */
  instructions: [TransactionInstruction];
  signers: Keypair[];
}

type Take = (name: string, instruction: TransactionInstruction) => Promise<void>;

/**
 * Takes every instruction of the program once along its common path.
 *
 * @param start starts the two chains it needs
 */
export async function walkThrough(
  visit: (step: Step) => Promise<void>,
  start: () => Promise<Chain> = startChain,
): Promise<void> {
  const takeOn =
    (world: World): Take =>
    (name, instruction) =>
      visit({ world, name, instructions: [instruction], signers: signersOf(world, instruction) });
  const bare = await createBareWorld(await start());
  await takeOn(bare)('config_initialize', initializeInstruction(bare));

  const world = await createWorld({}, await start());
  const take = takeOn(world);
  await takeJob(world, take);
  await takeDisputes(world, take);
  await takeCredits(world, take);
  await takeWorkers(world, take);
  await takeGovernance(world, take);
}

async function takeJob(world: World, take: Take): Promise<void> {
  const { chain } = world;
  const { instruction, job } = await composeLock(world);
  await take('job_lock', instruction);
  await take('job_acknowledge', acknowledge(world, job));
  await take('job_prove', prove(world, job));
  await take('job_settle', settle(world, job));
  await take('job_complete', complete(world, await lockJob(world)));
  await chain.setTime((await chain.now()) + 121n);
  const close = jobClose({ job, rentPayer: chain.payer.publicKey });
  await take('job_close', close);
  await take('job_fail', fail(world, await jobIn(world, 'processing')));
  const late = await jobIn(world, 'processing');
  await chain.setTime((await chain.now()) + 121n);
  await take('job_refund', refund(world, late));
}

async function takeDisputes(world: World, take: Take): Promise<void> {
  const { chain, hotSigner, gateway, creditAccount } = world;
  const undecided = await jobIn(world, 'settled');
  const byController = { signer: hotSigner.publicKey, gateway, clientHash: new Uint8Array(32) };
  await chain.send([dispute(world, undecided, byController)], [hotSigner]);
  await take('job_dispute', dispute(world, undecided));
  await chain.setTime((await chain.now()) + DAY + 1n);
  await take('dispute_expire', disputeExpire({ job: undecided, creditAccount }));
  const job = await jobIn(world, 'settled');
  await take('job_dispute', dispute(world, job));
  await passDisputeWindow(world);
  const verdict = await composeVerdict(world, job, 'upheld_worker');
  await take('dispute_resolve', verdict);
  const { stakeMint } = world;
  await take('slash_burn', slashBurn({ stakeMint }));
  await take('claim_pay', claimPay({ claimant: creditAccount }));
}

async function takeCredits(world: World, take: Take): Promise<void> {
  const { wallet, stranger, operator, gateway } = world;
  const owner = { wallet: wallet.publicKey };
  const open = creditOpen({ payer: stranger.publicKey, wallet: stranger.publicKey });
  await take('credit_open', open);
  const buy = creditBuy({
    ...owner,
    buyer: wallet.publicKey,
    buyerTokenAccount: world.walletTokens,
    credits: CREDITS,
  });
  await take('credit_buy', buy);
  const withdraw = creditWithdraw({ ...owner, destination: world.walletTokens, credits: CREDITS });
  await take('credit_withdraw', withdraw);
  const limits = { limitPerJobCredits: 40n, limitPerDayCredits: 400n };
  await take('spender_set', spenderSet({ ...owner, spender: gateway, ...limits }));
  await take('limit_set', limitSet({ ...owner, ...limits }));

  const signers = [world.hotSigner.publicKey, stranger.publicKey];
  const update = gatewayUpdate({ operator: operator.publicKey, signers, stopped: false });
  await take('gateway_update', update);
  const ofStranger = { payer: stranger.publicKey, operator: stranger.publicKey };
  await take('gateway_open', gatewayOpen({ ...ofStranger, signers }));
}

async function takeWorkers(world: World, take: Take): Promise<void> {
  const { chain, workerAuthority, stranger, arbiter, payout, worker, stakeTokens } = world;
  const authority = workerAuthority.publicKey;
  const description = {
    payout,
    proofKey: world.proofKey.publicKey,
    endpoint: 'https://worker.example',
  };
  const register = workerRegister({ authority: stranger.publicKey, ...description });
  await take('worker_register', register);
  await take('worker_update', workerUpdate({ authority, ...description }));
  const hosted = { authority, modelId: MODEL.id };
  await take('worker_unhost', workerUnhost(hosted));
  await take('worker_host', workerHost(hosted));
  const deposit = stakeDeposit({
    depositor: authority,
    depositorTokenAccount: stakeTokens,
    worker,
    tokens: 10n,
  });
  await take('stake_deposit', deposit);
  await take('stake_unlock', stakeUnlock({ authority, tokens: 10n }));
  await chain.setTime((await chain.now()) + 3n * DAY);
  const withdraw = stakeWithdraw({ authority, destination: stakeTokens });
  await take('stake_withdraw', withdraw);
  const suspend = workerSuspend({ arbiter: arbiter.publicKey, worker, suspended: true });
  await take('worker_suspend', suspend);
  await take('worker_deregister', workerDeregister({ authority }));
}

async function takeGovernance(world: World, take: Take): Promise<void> {
  const { chain, authority: key, arbiter, stranger } = world;
  const authority = key.publicKey;
  const settings = { ...SETTINGS, arbiter: arbiter.publicKey };
  await take('config_update', configUpdate({ authority, ...settings }));
  const paused = { depositsPaused: false, locksPaused: false };
  await take('pause_set', pauseSet({ authority, ...paused }));
  await take('model_upsert', modelInstruction(world));
  const retirement = { modelId: MODEL.id, retiresAt: (await chain.now()) + 31n * DAY };
  await take('model_retire', modelRetire({ authority, ...retirement }));
  chain.setToken(addresses.treasuryVault, {
    mint: world.creditMint,
    owner: addresses.vaultAuthority,
    baseUnits: 1_000_000n,
  });
  const destination = world.walletTokens;
  const withdraw = treasuryWithdraw({ authority, destination, baseUnits: 10n });
  const vouch = gatewayVouch({ authority, gateway: world.gateway, vouched: true });
  await take('gateway_vouch', vouch);
  await take('treasury_withdraw', withdraw);
  const pendingAuthority = stranger.publicKey;
  await take('authority_propose', authorityPropose({ authority, pendingAuthority }));
  await take('authority_accept', authorityAccept({ pendingAuthority }));
}
