import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Keypair, PublicKey } from '@solana/web3.js';
import {
  authorityAccept,
  authorityPropose,
  configUpdate,
  gatewayOpen,
  gatewayUpdate,
  gatewayVouch,
  modelCardHash,
  modelRetire,
  modelText,
  pauseSet,
  slashBurn,
  treasuryWithdraw,
} from '../../programs/client/index.ts';
import { expectConserved } from './support/conservation.ts';
import { expectEffect } from './support/emission.ts';
import { expectRefusal, pass } from './support/expectations.ts';
import { freshWorld } from './support/freshWorld.ts';
import { jobIn, lockJob, readJob } from './support/jobs.ts';
import { vouch } from './support/parties.ts';
import { decide } from './support/verdicts.ts';
import {
  addresses,
  MODEL,
  modelInstruction,
  SETTINGS,
  STAKE_DECIMALS,
  send,
  type World,
} from './support/world.ts';

let world: World;
beforeEach(async () => {
  world = await freshWorld();
});
afterEach(() => expectConserved(world));

const authority = () => world.authority.publicKey;
const keys = (count: number): PublicKey[] =>
  Array.from({ length: count }, () => Keypair.generate().publicKey);

// What they refuse: support/refusals/governance.ts, and accounts.test.ts.
describe('config_update', () => {
  it('changes the terms of later jobs but not of running ones', async () => {
    const inFlight = await jobIn(world, 'pending');
    const before = await readJob(world, inFlight);
    const terms = {
      ...SETTINGS,
      arbiter: world.stranger.publicKey,
      treasuryShareBasisPoints: 2_000,
      slashTokens: 100,
    };
    const update = configUpdate({ authority: authority(), ...terms });
    await expectEffect(world, update, 'ConfigUpdated', { config: terms });
    await expectEffect(world, update, 'ConfigUpdated', { config: {} });
    const later = await readJob(world, await jobIn(world, 'pending'));
    expect(await readJob(world, inFlight)).toEqual(before);
    expect(later).toMatchObject({ treasuryShareBasisPoints: 2_000, slashTokens: 100 });
  });
});

describe('the authority', () => {
  it('goes to the key that was proposed last, once that accepts', async () => {
    const { stranger, wallet } = world;
    const proposeKey = (pendingAuthority: PublicKey) =>
      authorityPropose({ authority: authority(), pendingAuthority });
    for (const pendingAuthority of [wallet.publicKey, PublicKey.default, stranger.publicKey]) {
      await expectEffect(world, proposeKey(pendingAuthority), 'AuthorityProposed', {
        config: { pendingAuthority },
      });
    }
    const accept = authorityAccept({ pendingAuthority: stranger.publicKey });
    await expectEffect(world, accept, 'AuthorityAccepted', {
      config: { authority: stranger.publicKey, pendingAuthority: PublicKey.default },
    });
    await expectRefusal(world, 'NoPendingAuthority', accept);
    await expectRefusal(world, 'Unauthorized', proposeKey(wallet.publicKey));
  });
});

describe('pause_set', () => {
  it('sets both flags to any combination, including the current one', async () => {
    for (const [depositsPaused, locksPaused] of [
      [true, false],
      [true, true],
      [true, true],
      [false, true],
      [false, false],
    ] as const) {
      const flags = { depositsPaused, locksPaused };
      const set = pauseSet({ authority: authority(), ...flags });
      await expectEffect(world, set, 'PauseSet', { config: flags });
    }
  });
});

const slots = (signers: PublicKey[]): PublicKey[] => [
  ...signers,
  ...Array.from({ length: 8 - signers.length }, () => PublicKey.default),
];

describe('a gateway', () => {
  it.each([1, 8])('is opened with %i signers, by any payer', async (count) => {
    const { stranger, wallet } = world;
    const operator = stranger.publicKey;
    const gateway = addresses.gateway(operator);
    const signers = keys(count);
    const open = gatewayOpen({ payer: wallet.publicKey, operator, signers });
    await expectEffect({ ...world, gateway }, open, 'GatewayOpened', {
      gateway: {
        operator,
        stopped: false,
        vouched: false,
        signersLen: count,
        signers: slots(signers),
      },
      said: { signers },
    });
  });

  it.each([true, false])(
    'gets other signers and a stop flag (vouched for: %s)',
    async (vouched) => {
      await vouch(world, vouched);
      for (const [count, stopped] of [
        [3, true],
        [8, true],
        [1, false],
        [0, false],
      ] as const) {
        const signers = keys(count);
        const update = gatewayUpdate({ operator: world.operator.publicKey, signers, stopped });
        // No former signer is left behind the present ones.
        await expectEffect(world, update, 'GatewayUpdated', {
          gateway: { stopped, signersLen: count, signers: slots(signers) },
          said: { signers },
        });
      }
    },
  );

  it('is vouched for or not, which counts for later locks', async () => {
    const { gateway, wallet } = world;
    for (const vouched of [false, true, true]) {
      const change = gatewayVouch({ authority: authority(), gateway, vouched });
      await expectEffect(world, change, 'GatewayVouched', { gateway: { vouched } });
    }
    const before = await lockJob(world);
    await vouch(world, false);
    const direct = await lockJob(world, { signer: wallet, gateway: null });
    const jobs = [before, await lockJob(world), direct];
    const found = await Promise.all(jobs.map((job) => readJob(world, job)));
    expect(found.map(({ vouched }) => vouched)).toEqual([true, false, false]);
  });
});

/** Of a model that is not pinned. */
const NO_CARD = new Uint8Array(32);

describe('model_upsert', () => {
  it('adds a model', async () => {
    const added = { ...MODEL, id: 'another-8b' };
    const { id, label, originator, ...numbers } = added;
    const model = addresses.model(id);
    await expectEffect({ ...world, model }, modelInstruction(world, added), 'ModelUpserted', {
      model: {
        createdAt: await world.chain.now(),
        retiresAt: 0n,
        cardHash: NO_CARD,
        ...numbers,
      },
      said: { id, label, originator },
    });
    expect(modelText(await world.read('Model', model))).toEqual({ id, label, originator });
  });

  it('changes a model but not the prices of running jobs [charging.price-changes]', async () => {
    const job = await jobIn(world, 'pending');
    await pass(world, 10n);
    const { id, label, originator } = MODEL;
    for (const { card, ...changes } of [
      { creditsPerRequest: 9, tier: 'pro' as const, card: { source: 'https://models.example/8b' } },
      { creditsPerRequest: 7, tier: 'lite' as const, card: undefined },
    ]) {
      const cardHash = card === undefined ? NO_CARD : modelCardHash(card);
      const change = modelInstruction(world, { ...changes, ...(card && { card }) });
      await expectEffect(world, change, 'ModelUpserted', {
        model: { ...changes, cardHash },
        said: { id, label, originator },
      });
    }
    expect(await readJob(world, job)).toMatchObject({ creditsPerRequest: 8, tier: 'standard' });
    await send(world, modelInstruction(world, { label: '8.1B' }));
    const changed = modelText(await world.read('Model', world.model));
    expect(changed).toEqual({ id, label: '8.1B', originator });
  });
});

describe('model_retire', () => {
  it('announces a date, moves it, and cancels it [models.retirement]', async () => {
    const soonest = (await world.chain.now()) + 30n * 86_400n;
    for (const retiresAt of [soonest, soonest + 1n, 2n ** 63n - 1n, 0n, 0n]) {
      const retire = modelRetire({ authority: authority(), modelId: MODEL.id, retiresAt });
      await expectEffect(world, retire, 'ModelRetired', {
        model: { retiresAt },
        said: { id: MODEL.id },
      });
    }
  });
});

describe('treasury_withdraw', () => {
  it('pays out what the treasury holds', async () => {
    const { chain, walletTokens: destination } = world;
    // 15 % of 8 credits
    await jobIn(world, 'settled');
    const before = await chain.tokens(destination);
    for (const [baseUnits, treasuryVaultBaseUnits] of [
      [1n, 11_999n],
      [11_999n, 0n],
    ] as const) {
      const withdraw = treasuryWithdraw({ authority: authority(), destination, baseUnits });
      await expectEffect(world, withdraw, 'TreasuryWithdrawn', {
        said: { authority: authority(), destination, baseUnits, treasuryVaultBaseUnits },
      });
    }
    expect(await chain.tokens(destination)).toBe(before + 12_000n);
  });
});

describe('slash_burn', () => {
  it('burns what verdicts took from workers, once, called by any key', async () => {
    const { chain, stakeMint } = world;
    const supply = async () => {
      const mint = await chain.account(stakeMint);
      // where a mint account holds it
      return Buffer.from(mint?.data ?? []).readBigUInt64LE(36);
    };
    await decide(world, await jobIn(world, 'disputed'), 'upheld_worker');
    const before = await supply();
    const burn = slashBurn({ stakeMint });
    await expectEffect(world, burn, 'SlashBurned', {
      treasury: { slashedStakeTokens: 0n },
      said: { tokens: 500n },
    });
    expect(await supply()).toBe(before - 500n * 10n ** BigInt(STAKE_DECIMALS));
    await expectRefusal(world, 'NothingToClaim', burn);
  });
});
