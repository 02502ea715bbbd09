import type { Keypair, PublicKey } from '@solana/web3.js';
import type { ConfigSettings } from '../../../programs/client/index.ts';
import { startChain } from '../../../testing/chain.ts';
import { addresses, type Cast, createCast } from '../../../testing/kit/cast.ts';
import type { Chain } from '../../../testing/kit/chain.ts';
import { STANDARD_MODEL as MODEL } from '../../../testing/kit/setUp.ts';
import { openEscrow } from '../../../testing/kit/startEscrow.ts';

export { BASE_UNITS_PER_CREDIT } from '../../../programs/client/index.ts';
export { addresses, hashOf, STAKE_DECIMALS } from '../../../testing/kit/cast.ts';
export {
  DEFAULT_SETTINGS as SETTINGS,
  initializeInstruction,
  modelInstruction,
  STANDARD_MODEL as MODEL,
} from '../../../testing/kit/setUp.ts';
export { CREDITS, STAKE_TOKENS } from '../../../testing/kit/startEscrow.ts';

/** A chain with the program, and the one of each kind that a job needs. */
export interface World extends Cast {
  wallet: Keypair;
  /** The wallet's stablecoin. */
  walletTokens: PublicKey;
  creditAccount: PublicKey;
  model: PublicKey;
  workerAuthority: Keypair;
  proofKey: Keypair;
  worker: PublicKey;
  /** The worker's stablecoin. */
  payout: PublicKey;
  /** Stake tokens of the worker's authority. */
  stakeTokens: PublicKey;
}

/** A chain with two mints and keys, on which the program is not initialized yet. */
export async function createBareWorld(given?: Chain): Promise<World> {
  return worldOf(await createCast(given ?? (await startChain()), { wallets: 1, workers: 1 }));
}

/**
 * A chain with the program initialized, and with one model and one gateway. One wallet with credits
 * trusts the gateway, and one staked worker hosts the model.
 */
export async function createWorld(
  settings: Partial<ConfigSettings> = {},
  given?: Chain,
): Promise<World> {
  return worldOf(await openEscrow(given ?? (await startChain()), { settings }));
}

function worldOf(cast: Cast): World {
  const [wallet] = cast.wallets;
  const [worker] = cast.workers;
  return {
    ...cast,
    wallet: wallet.keypair,
    walletTokens: wallet.tokens,
    creditAccount: wallet.creditAccount,
    model: addresses.model(MODEL.id),
    workerAuthority: worker.authority,
    proofKey: worker.proofKey,
    worker: worker.address,
    payout: worker.payout,
    stakeTokens: worker.stakeTokens,
  };
}
