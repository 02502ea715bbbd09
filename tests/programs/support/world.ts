import type { Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js';
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
  /** Every key that was made so far: those that an instruction names as signers sign it. */
  people: Keypair[];
  /** The accounts with credits, and those with a stake. */
  creditAccounts: PublicKey[];
  workerAccounts: PublicKey[];
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

/** Who of all people must sign these instructions. */
export function signersOf(
  { people }: Pick<World, 'people'>,
  ...instructions: readonly TransactionInstruction[]
): Keypair[] {
  const asked = instructions.flatMap(({ keys }) => keys.filter(({ isSigner }) => isSigner));
  return people.filter((key) => asked.some(({ pubkey }) => pubkey.equals(key.publicKey)));
}

/** Sends instructions, signed by everybody who has to. @throws Refusal when they are refused */
export const send = (
  world: Pick<World, 'chain' | 'people'>,
  ...instructions: TransactionInstruction[]
): Promise<number> => world.chain.send(instructions, signersOf(world, ...instructions));

/** Everything about a cast with one wallet and one worker. */
export function worldOf(cast: Cast): World {
  const [wallet] = cast.wallets;
  const [worker] = cast.workers;
  const { authority, arbiter, operator, hotSigner, stranger } = cast;
  const people = [authority, arbiter, operator, hotSigner, stranger];
  people.push(wallet.keypair, worker.authority, worker.proofKey);
  return {
    ...cast,
    people,
    creditAccounts: [wallet.creditAccount],
    workerAccounts: [worker.address],
    async person() {
      const key = await cast.person();
      people.push(key);
      return key;
    },
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
