import { expect } from '@jest/globals';
import { addresses, BASE_UNITS_PER_CREDIT, STAKE_DECIMALS, type World } from './world.ts';

/**
 * The books balance: the vault holds exactly what credits and claims are worth, the stake vault
 * exactly the stakes, and the locks are the locks of jobs that are not final.
 *
 * @param surplus base units that somebody sent to the vault unasked
 */
export async function expectConserved(
  world: World,
  parties: { jobs?: Iterable<{ toBase58(): string }>; surplus?: bigint } = {},
): Promise<void> {
  const { chain } = world;
  const account = await world.read('CreditAccount', world.creditAccount);
  const worker = await world.read('Worker', world.worker);
  const treasury = await world.read('Treasury', addresses.treasury);
  const vault = await chain.tokens(addresses.vault);
  expect(vault).toBe(
    BASE_UNITS_PER_CREDIT * (account.availableCredits + account.lockedCredits) +
      worker.claimableBaseUnits +
      treasury.unpaidBaseUnits +
      (parties.surplus ?? 0n),
  );
  expect(treasury.owedBaseUnits).toBe(BASE_UNITS_PER_CREDIT * account.owedCredits);

  const stake = worker.stakeTokens + worker.unstakingTokens + treasury.slashedStakeTokens;
  expect(await chain.tokens(addresses.stakeVault)).toBe(stake * 10n ** BigInt(STAKE_DECIMALS));
}
