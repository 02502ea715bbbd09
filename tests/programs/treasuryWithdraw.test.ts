import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { configUpdate, treasuryWithdraw } from '../../programs/client/index.ts';
import { expectConserved } from './support/conservation.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal, pass } from './support/expectations.ts';
import { jobIn } from './support/jobs.ts';
import { expectPayeesRefused } from './support/payees.ts';
import { withAccount } from './support/tampering.ts';
import { decide } from './support/verdicts.ts';
import { addresses, createWorld, SETTINGS, type World } from './support/world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
  // 15 % of 8 credits, 12,000 base units, go to the treasury
  await jobIn(world, 'settled');
});
afterEach(() => expectConserved(world));

const withdraw = (
  baseUnits: bigint,
  destination = world.walletTokens,
  authority = world.authority,
) => treasuryWithdraw({ authority: authority.publicKey, destination, baseUnits });

describe('treasury_withdraw', () => {
  it('pays out at most what the treasury holds', async () => {
    const { chain, authority, walletTokens } = world;
    const before = await chain.tokens(walletTokens);
    const treasury = await world.read('Treasury', addresses.treasury);
    await expectRefusal(world, 'TreasuryReserved', withdraw(12_001n), [authority]);
    const paid = { authority: authority.publicKey, destination: walletTokens };
    await expectEvent(world, [withdraw(1n)], [authority], 'TreasuryWithdrawn', {
      ...{ ...paid, baseUnits: 1n, treasuryVaultBaseUnits: 11_999n },
    });
    await expectEvent(world, [withdraw(11_999n)], [authority], 'TreasuryWithdrawn', {
      ...{ ...paid, baseUnits: 11_999n, treasuryVaultBaseUnits: 0n },
    });
    expect(await chain.tokens(walletTokens)).toBe(before + 12_000n);
    expect(await chain.tokens(addresses.treasuryVault)).toBe(0n);
    expect(await world.read('Treasury', addresses.treasury)).toEqual(treasury);
    await expectRefusal(world, 'TreasuryReserved', withdraw(1n), [authority]);
  });

  it('refuses zero, and more than the whole supply', async () => {
    const { authority } = world;
    await expectRefusal(world, 'ValueOutOfRange', withdraw(0n), [authority]);
    await expectRefusal(world, 'TreasuryReserved', withdraw(2n ** 64n - 1n), [authority]);
  });

  it('reserves what is owed and what open disputes may cost', async () => {
    const { chain, authority } = world;
    const owed = await jobIn(world, 'disputed');
    await jobIn(world, 'disputed');
    await decide(world, owed, 'upheld_gateway');
    // 8 credits owed and 8 in dispute
    const token = { mint: world.creditMint, owner: addresses.vaultAuthority };
    chain.setToken(addresses.treasuryVault, { ...token, baseUnits: 160_001n });
    await expectRefusal(world, 'TreasuryReserved', withdraw(2n), [authority]);
    await chain.send([withdraw(1n)], [authority]);
    await expectRefusal(world, 'TreasuryReserved', withdraw(1n), [authority]);
    chain.setToken(addresses.treasuryVault, { ...token, baseUnits: 0n });
    await expectRefusal(world, 'TreasuryReserved', withdraw(1n), [authority]);
  });

  describe('with a floor', () => {
    const NOTICE_SECONDS = 26n * 60n * 60n;
    const setFloor = (treasuryFloorCredits: bigint) => {
      const { chain, authority, arbiter } = world;
      const terms = { ...SETTINGS, arbiter: arbiter.publicKey, treasuryFloorCredits };
      return chain.send([configUpdate({ authority: authority.publicKey, ...terms })], [authority]);
    };
    const refuse = (baseUnits: bigint) =>
      expectRefusal(world, 'TreasuryReserved', withdraw(baseUnits), [world.authority]);

    it('keeps it on top of what is owed and disputed', async () => {
      const { chain, authority, creditMint } = world;
      await jobIn(world, 'disputed');
      const token = { mint: creditMint, owner: addresses.vaultAuthority };
      // 8 credits in dispute and a floor of 5, each credit 10,000 base units
      chain.setToken(addresses.treasuryVault, { ...token, baseUnits: 130_001n });
      await setFloor(5n);
      await refuse(2n);
      await chain.send([withdraw(1n)], [authority]);
      await refuse(1n);
    });

    it('keeps a floor that was lowered for 26 hours more', async () => {
      const { chain, authority } = world;
      await setFloor(1n);
      await setFloor(0n);
      await refuse(2_001n);
      await pass(world, NOTICE_SECONDS - 1n);
      await refuse(2_001n);
      await pass(world, 1n);
      await chain.send([withdraw(12_000n)], [authority]);
    });

    it('is not outwitted by lowering it twice, or by raising and lowering it', async () => {
      await setFloor(1n);
      await setFloor(0n);
      await setFloor(0n);
      await refuse(2_001n);
      await pass(world, NOTICE_SECONDS - 1n);
      // The floor of 1 still counts, and does so for 26 hours from this lowering.
      await setFloor(1n);
      await setFloor(0n);
      await pass(world, NOTICE_SECONDS - 1n);
      await refuse(2_001n);
      await pass(world, 1n);
      await world.chain.send([withdraw(2_001n)], [world.authority]);
    });

    it('counts a floor that was raised at once', async () => {
      await setFloor(2n);
      await refuse(1n);
    });
  });

  it('refuses every signer but the authority', async () => {
    for (const signer of [world.arbiter, world.operator, world.stranger]) {
      const theft = withdraw(1n, world.walletTokens, signer);
      await expectRefusal(world, 'Unauthorized', theft, [signer]);
    }
  });

  it('refuses unusable destinations', () =>
    expectPayeesRefused(world, ({ payout }) => withdraw(1n, payout), world.authority));

  it('pays only from the treasury’s vault', async () => {
    const theft = withAccount(withdraw(1n), 'treasury_vault', addresses.vault);
    await expectRefusal(world, 'WrongAddress', theft, [world.authority]);
  });

  it('fails while the treasury’s vault is frozen', async () => {
    const { chain, creditMint, authority } = world;
    const token = { mint: creditMint, owner: addresses.vaultAuthority, baseUnits: 12_000n };
    chain.setToken(addresses.treasuryVault, { ...token, frozen: true });
    await expectRefusal(world, 'WrongTokenAccount', withdraw(1n), [authority]);
  });
});
