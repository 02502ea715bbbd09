import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { slashBurn } from '../../programs/client/index.ts';
import { expectConserved } from './support/conservation.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal } from './support/expectations.ts';
import { jobIn } from './support/jobs.ts';
import { withAccount } from './support/tampering.ts';
import { decide } from './support/verdicts.ts';
import {
  addresses,
  createWorld,
  STAKE_DECIMALS,
  STAKE_TOKENS,
  type World,
} from './support/world.ts';

/** Where a mint account holds its supply. */
const SUPPLY_AT = 36;
const BASE_UNITS_PER_TOKEN = 10n ** BigInt(STAKE_DECIMALS);

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => expectConserved(world));

const treasury = () => world.read('Treasury', addresses.treasury);
const burn = () => slashBurn({ stakeMint: world.stakeMint });
/** Of the stake mint, in base units. */
const stakeSupply = async () => {
  const mint = await world.chain.account(world.stakeMint);
  if (mint === null) throw new Error('there is no stake mint');
  return Buffer.from(mint.data).readBigUInt64LE(SUPPLY_AT);
};
const convict = async () => decide(world, await jobIn(world, 'disputed'), 'upheld_worker');

describe('slash_burn', () => {
  it('burns what verdicts took from workers, called by any key', async () => {
    const { chain } = world;
    await convict();
    const before = await treasury();
    const supply = await stakeSupply();
    await expectEvent(world, [burn()], [], 'SlashBurned', {
      treasurySequence: before.sequence + 1n,
      tokens: 500n,
      slashedStakeTokens: 0n,
    });
    expect(await treasury()).toEqual({
      ...before,
      sequence: before.sequence + 1n,
      slashedStakeTokens: 0n,
    });
    expect(await chain.tokens(addresses.stakeVault)).toBe(
      (STAKE_TOKENS - 500n) * BASE_UNITS_PER_TOKEN,
    );
    expect(await stakeSupply()).toBe(supply - 500n * BASE_UNITS_PER_TOKEN);
  });

  it('burns nothing twice, and no stake that was not slashed', async () => {
    await expectRefusal(world, 'NothingToClaim', burn());
    await convict();
    await world.chain.send([burn()]);
    await expectRefusal(world, 'NothingToClaim', burn());
  });

  it('refuses another vault and another mint', async () => {
    await convict();
    const fromVault = withAccount(burn(), 'stake_vault', addresses.vault);
    await expectRefusal(world, 'WrongAddress', fromVault);
    await expectRefusal(world, 'WrongMint', slashBurn({ stakeMint: world.creditMint }));
  });

  it('fails while the stake vault is frozen, and burns once it is not', async () => {
    const { chain, stakeMint } = world;
    await convict();
    const baseUnits = await chain.tokens(addresses.stakeVault);
    const token = { mint: stakeMint, owner: addresses.vaultAuthority, baseUnits };
    chain.setToken(addresses.stakeVault, { ...token, frozen: true });
    await expectRefusal(world, 'WrongTokenAccount', burn());
    chain.setToken(addresses.stakeVault, token);
    await chain.send([burn()]);
  });
});
