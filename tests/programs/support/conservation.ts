import { expect } from '@jest/globals';
import type { PublicKey } from '@solana/web3.js';
import type { CreditAccount, Treasury, Worker } from '../../../programs/client/index.ts';
import { addresses, BASE_UNITS_PER_CREDIT, STAKE_DECIMALS, type World } from './world.ts';

/**
 * The books balance. The vault holds exactly what credits and claims are worth, and the treasury owes
 * exactly what wallets are owed. The stakes' vault holds exactly the stakes.
 *
 * @param parties everybody who has an account; all that the world knows unless named
 * @returns the accounts, in the order of the parties
 */
export async function expectConserved(
  world: World,
  parties: { creditAccounts?: readonly PublicKey[]; workers?: readonly PublicKey[] } = {},
): Promise<{ accounts: CreditAccount[]; workers: Worker[]; treasury: Treasury }> {
  const { creditAccounts = world.creditAccounts, workers: staked = world.workerAccounts } = parties;
  const { chain } = world;
  const accounts = await Promise.all(creditAccounts.map((key) => world.read('CreditAccount', key)));
  const workers = await Promise.all(staked.map((key) => world.read('Worker', key)));
  const treasury = await world.read('Treasury', addresses.treasury);
  const credits = sum(accounts, (account) => account.availableCredits + account.lockedCredits);
  expect(await chain.tokens(addresses.vault)).toBe(
    BASE_UNITS_PER_CREDIT * credits +
      sum(workers, (worker) => worker.claimableBaseUnits) +
      treasury.unpaidBaseUnits,
  );
  const owed = sum(accounts, (account) => account.owedCredits);
  expect(treasury.owedBaseUnits).toBe(BASE_UNITS_PER_CREDIT * owed);
  const stakes = sum(workers, (worker) => worker.stakeTokens + worker.unstakingTokens);
  expect(await chain.tokens(addresses.stakeVault)).toBe(
    (stakes + treasury.slashedStakeTokens) * 10n ** BigInt(STAKE_DECIMALS),
  );
  return { accounts, workers, treasury };
}

const sum = <Item>(items: readonly Item[], amount: (item: Item) => bigint): bigint =>
  items.reduce((total, item) => total + amount(item), 0n);
