import { PublicKey } from '@solana/web3.js';
import {
  type ConfigSettings,
  configUpdate,
  gatewayUpdate,
  gatewayVouch,
  limitSet,
  pauseSet,
  spenderSet,
  stakeUnlock,
  workerDeregister,
  workerHost,
  workerSuspend,
  workerUnhost,
} from '../../../programs/client/index.ts';
import { NO_SPENDER, UNLIMITED } from '../../../testing/kit/setUp.ts';
import { addresses, MODEL, SETTINGS, send, type World } from './world.ts';

/** What the parties of a world do besides their jobs. */

export const setTerms = (world: World, terms: Partial<ConfigSettings>) => {
  const authority = world.authority.publicKey;
  const arbiter = world.arbiter.publicKey;
  return send(world, configUpdate({ authority, ...SETTINGS, arbiter, ...terms }));
};

export const pause = (world: World, flags: { deposits?: boolean; locks?: boolean }) => {
  const { deposits: depositsPaused = false, locks: locksPaused = false } = flags;
  const authority = world.authority.publicKey;
  return send(world, pauseSet({ authority, depositsPaused, locksPaused }));
};

export const vouch = (world: World, vouched: boolean) => {
  const { authority, gateway } = world;
  return send(world, gatewayVouch({ authority: authority.publicKey, gateway, vouched }));
};

/** @param change by default the one hot signer goes on */
export const updateGateway = (
  world: World,
  change: { signers?: PublicKey[]; stopped?: boolean } = {},
) => {
  const { signers = [world.hotSigner.publicKey], stopped = false } = change;
  return send(world, gatewayUpdate({ operator: world.operator.publicKey, signers, stopped }));
};

interface Limits {
  limitPerJobCredits: bigint;
  limitPerDayCredits: bigint;
}

export const setSpender = (world: World, spender: PublicKey, limits: Limits = UNLIMITED) =>
  send(world, spenderSet({ ...limits, wallet: world.wallet.publicKey, spender }));

export const removeSpender = (world: World) => setSpender(world, PublicKey.default, NO_SPENDER);

export const setLimits = (world: World, limits: Partial<Limits>) =>
  send(world, limitSet({ wallet: world.wallet.publicKey, ...UNLIMITED, ...limits }));

export const suspend = (world: World, suspended: boolean) => {
  const { arbiter, worker } = world;
  return send(world, workerSuspend({ arbiter: arbiter.publicKey, worker, suspended }));
};

export const leave = (world: World) =>
  send(world, workerDeregister({ authority: world.workerAuthority.publicKey }));

export const host = (world: World, modelId = MODEL.id) =>
  send(world, workerHost({ authority: world.workerAuthority.publicKey, modelId }));

export const unhost = (world: World, modelId = MODEL.id) =>
  send(world, workerUnhost({ authority: world.workerAuthority.publicKey, modelId }));

export const unlockStake = (world: World, tokens: bigint) =>
  send(world, stakeUnlock({ authority: world.workerAuthority.publicKey, tokens }));

/** Writes the balance of one of the escrow's token accounts of stablecoin. */
export const hold = ({ chain, creditMint }: World, vault: PublicKey, baseUnits: bigint): void =>
  chain.setToken(vault, { mint: creditMint, owner: addresses.vaultAuthority, baseUnits });

/** Freezes a token account. @returns what thaws it */
export async function freeze(
  { chain, creditMint, workerAuthority, stakeMint, payout }: World,
  address: PublicKey,
): Promise<() => void> {
  const mint = address.equals(addresses.stakeVault) ? stakeMint : creditMint;
  const owner = address.equals(payout) ? workerAuthority.publicKey : addresses.vaultAuthority;
  const holding = { mint, owner, baseUnits: await chain.tokens(address) };
  chain.setToken(address, { ...holding, frozen: true });
  return () => chain.setToken(address, holding);
}
