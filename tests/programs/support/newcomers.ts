import type { TestWallet, TestWorker } from '../../../testing/kit/cast.ts';
import { openWallet, openWorker } from '../../../testing/kit/setUp.ts';
import { addresses, CREDITS, MODEL, STAKE_TOKENS, type World } from './world.ts';

const WALLET_BASE_UNITS = 1_000_000_000_000n;
const STAKE_BASE_UNITS = WALLET_BASE_UNITS * 10n ** 6n;

/** Somebody with stablecoin who has no credit account yet. */
export async function composeWallet(world: World): Promise<TestWallet> {
  const keypair = await world.person();
  return {
    keypair,
    creditAccount: addresses.creditAccount(keypair.publicKey),
    tokens: world.token(world.creditMint, keypair.publicKey, WALLET_BASE_UNITS),
  };
}

/** Somebody with stake tokens who is not registered yet. */
export async function composeWorker(world: World): Promise<TestWorker> {
  const authority = await world.person();
  return {
    authority,
    proofKey: await world.person(),
    address: addresses.worker(authority.publicKey),
    payout: world.token(world.creditMint, authority.publicKey),
    stakeTokens: world.token(world.stakeMint, authority.publicKey, STAKE_BASE_UNITS),
  };
}

/** Another wallet with credits that trusts the world's gateway. */
export async function addWallet(world: World, credits = CREDITS): Promise<TestWallet> {
  const wallet = await composeWallet(world);
  await openWallet(world, wallet, credits);
  world.creditAccounts.push(wallet.creditAccount);
  return wallet;
}

/** Another worker that is staked and hosts the world's model. */
export async function addWorker(world: World): Promise<TestWorker> {
  const worker = await composeWorker(world);
  await openWorker(world, worker, { stakeTokens: STAKE_TOKENS, modelIds: [MODEL.id] });
  world.workerAccounts.push(worker.address);
  return worker;
}
