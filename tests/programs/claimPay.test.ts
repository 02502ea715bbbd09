import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { PublicKey } from '@solana/web3.js';
import {
  claimPay,
  creditOpen,
  workerDeregister,
  workerUpdate,
} from '../../programs/client/index.ts';
import { expectConserved } from './support/conservation.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal } from './support/expectations.ts';
import { jobIn } from './support/jobs.ts';
import { withAccount } from './support/tampering.ts';
import { decide } from './support/verdicts.ts';
import { addresses, CREDITS, createWorld, type World } from './support/world.ts';

const OF_WALLET = 'credit_account' as const;
const OF_WORKER = 'worker' as const;
const OF_TREASURY = 'treasury' as const;

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => expectConserved(world));

const account = () => world.read('CreditAccount', world.creditAccount);
const worker = () => world.read('Worker', world.worker);
const treasury = () => world.read('Treasury', addresses.treasury);
const ofWallet = () => claimPay({ claimant: world.creditAccount });
const ofWorker = () => claimPay({ claimant: world.worker, payout: world.payout });
const ofTreasury = () => claimPay({ claimant: addresses.treasury });

/** Overwrites one of the program's token accounts. */
const hold = (vault: PublicKey, baseUnits: bigint, frozen = false): void =>
  world.chain.setToken(vault, {
    ...{ mint: world.creditMint, owner: addresses.vaultAuthority, baseUnits, frozen },
  });
/** Settles a job of 8 credits while a token account is frozen, and thaws it again. */
const settleWhileFrozen = async (address: PublicKey, owner = addresses.vaultAuthority) => {
  const baseUnits = await world.chain.tokens(address);
  const holding = { mint: world.creditMint, owner, baseUnits };
  world.chain.setToken(address, { ...holding, frozen: true });
  await jobIn(world, 'settled');
  world.chain.setToken(address, holding);
};
/** A job of 8 credits paid the treasury 12,000 base units and now costs it 80,000. */
const upholdDispute = async (): Promise<void> => {
  await decide(world, await jobIn(world, 'disputed'), 'upheld_gateway');
};

describe('claim_pay for a wallet', () => {
  it('turns what is owed into credits, up to the treasury’s tokens', async () => {
    const { chain, creditAccount } = world;
    await upholdDispute();
    const before = await account();
    const owing = await treasury();
    const paid = { claimant: creditAccount, claimantKind: OF_WALLET, unpaidBaseUnits: 0n } as const;
    await expectEvent(world, [ofWallet()], [], 'ClaimPaid', {
      ...paid,
      claimantSequence: before.sequence + 1n,
      treasurySequence: owing.sequence + 1n,
      baseUnits: 10_000n,
      credits: 1n,
      remainingBaseUnits: 70_000n,
      owedBaseUnits: 70_000n,
      availableCredits: CREDITS - 7n,
    });
    expect(await account()).toEqual({
      ...before,
      sequence: before.sequence + 1n,
      owedCredits: 7n,
      availableCredits: CREDITS - 7n,
    });
    expect(await treasury()).toEqual({
      ...owing,
      sequence: owing.sequence + 1n,
      owedBaseUnits: 70_000n,
    });
    expect(await chain.tokens(addresses.treasuryVault)).toBe(2_000n);
    await expectRefusal(world, 'NothingToClaim', ofWallet());

    hold(addresses.treasuryVault, 1_000_000n);
    await chain.send([ofWallet()]);
    expect(await account()).toMatchObject({ owedCredits: 0n, availableCredits: CREDITS });
    expect(await chain.tokens(addresses.treasuryVault)).toBe(930_000n);
    await expectRefusal(world, 'NothingToClaim', ofWallet());
  });

  it('pays nothing below one credit, and pays at exactly one credit', async () => {
    const { chain } = world;
    await upholdDispute();
    hold(addresses.treasuryVault, 9_999n);
    await expectRefusal(world, 'NothingToClaim', ofWallet());
    hold(addresses.treasuryVault, 10_000n);
    await chain.send([ofWallet()]);
    expect(await account()).toMatchObject({ owedCredits: 7n });
  });

  it('pays later while either vault is frozen', async () => {
    const { chain } = world;
    await upholdDispute();
    const treasuryUnits = await chain.tokens(addresses.treasuryVault);
    hold(addresses.treasuryVault, treasuryUnits, true);
    await expectRefusal(world, 'PayeeUnavailable', ofWallet());
    hold(addresses.treasuryVault, treasuryUnits);
    const vaultUnits = await chain.tokens(addresses.vault);
    hold(addresses.vault, vaultUnits, true);
    await expectRefusal(world, 'PayeeUnavailable', ofWallet());
    hold(addresses.vault, vaultUnits);
    await chain.send([ofWallet()]);
  });

  it('pays a wallet nothing for another wallet’s dispute', async () => {
    const { chain, stranger } = world;
    const wallet = stranger.publicKey;
    await chain.send([creditOpen({ payer: wallet, wallet })], [stranger]);
    await upholdDispute();
    const claimant = addresses.creditAccount(wallet);
    await expectRefusal(world, 'NothingToClaim', claimPay({ claimant }));
  });
});

describe('claim_pay for a worker', () => {
  it('pays once what could not be paid at settlement', async () => {
    const { chain, payout, workerAuthority } = world;
    await settleWhileFrozen(payout, workerAuthority.publicKey);
    await settleWhileFrozen(payout, workerAuthority.publicKey);
    const before = await worker();
    expect(before.claimableBaseUnits).toBe(136_000n);
    await expectEvent(world, [ofWorker()], [], 'ClaimPaid', {
      claimant: world.worker,
      claimantKind: OF_WORKER,
      claimantSequence: before.sequence + 1n,
      treasurySequence: 1n,
      baseUnits: 136_000n,
      credits: 0n,
      ...{ remainingBaseUnits: 0n, owedBaseUnits: 0n, unpaidBaseUnits: 0n, availableCredits: 0n },
    });
    const sequence = before.sequence + 1n;
    expect(await worker()).toEqual({ ...before, sequence, claimableBaseUnits: 0n });
    expect(await chain.tokens(payout)).toBe(136_000n);
    await expectRefusal(world, 'NothingToClaim', ofWorker());
  });

  it('pays later while the payee or the vault is frozen', async () => {
    const { chain, payout, creditMint, workerAuthority } = world;
    await settleWhileFrozen(payout, workerAuthority.publicKey);
    const token = { mint: creditMint, owner: workerAuthority.publicKey, baseUnits: 0n };
    chain.setToken(payout, { ...token, frozen: true });
    await expectRefusal(world, 'PayeeUnavailable', ofWorker());
    chain.setToken(payout, token);
    const vaultUnits = await chain.tokens(addresses.vault);
    hold(addresses.vault, vaultUnits, true);
    await expectRefusal(world, 'PayeeUnavailable', ofWorker());
    hold(addresses.vault, vaultUnits);
    await chain.send([ofWorker()]);
  });

  it('pays a worker that left with an unusable payee once it names another', async () => {
    const { chain, payout, creditMint, workerAuthority, proofKey } = world;
    const authority = workerAuthority.publicKey;
    chain.setToken(payout, { mint: creditMint, owner: authority, baseUnits: 0n, frozen: true });
    await jobIn(world, 'settled');
    await chain.send([workerDeregister({ authority })], [workerAuthority]);
    await expectRefusal(world, 'PayeeUnavailable', ofWorker());
    const other = world.token(creditMint, authority);
    const described = { proofKey: proofKey.publicKey, endpoint: 'https://worker.example' };
    const update = workerUpdate({ authority, payout: other, ...described });
    await chain.send([update], [workerAuthority]);
    await expectRefusal(world, 'WrongAddress', ofWorker());
    await chain.send([claimPay({ claimant: world.worker, payout: other })]);
    expect(await chain.tokens(other)).toBe(68_000n);
    expect((await worker()).claimableBaseUnits).toBe(0n);
  });

  it('pays only to the worker’s own payee', async () => {
    const { payout, workerAuthority, stranger, creditMint } = world;
    await settleWhileFrozen(payout, workerAuthority.publicKey);
    const own = world.token(creditMint, stranger.publicKey);
    for (const workerPayout of [own, addresses.treasuryVault]) {
      const theft = claimPay({ claimant: world.worker, payout: workerPayout });
      await expectRefusal(world, 'WrongAddress', theft);
    }
  });
});

describe('claim_pay for the treasury', () => {
  it('pays once the shares that could not be paid at settlement', async () => {
    const { chain } = world;
    await settleWhileFrozen(addresses.treasuryVault);
    const before = await treasury();
    expect(before).toMatchObject({ unpaidBaseUnits: 12_000n, sequence: 2n });
    await expectEvent(world, [ofTreasury()], [], 'ClaimPaid', {
      claimant: addresses.treasury,
      claimantKind: OF_TREASURY,
      claimantSequence: 3n,
      treasurySequence: 3n,
      baseUnits: 12_000n,
      credits: 0n,
      ...{ remainingBaseUnits: 0n, owedBaseUnits: 0n, unpaidBaseUnits: 0n, availableCredits: 0n },
    });
    expect(await treasury()).toEqual({ ...before, sequence: 3n, unpaidBaseUnits: 0n });
    expect(await chain.tokens(addresses.treasuryVault)).toBe(12_000n);
    await expectRefusal(world, 'NothingToClaim', ofTreasury());
  });

  it('pays later while either vault is frozen', async () => {
    const { chain } = world;
    await settleWhileFrozen(addresses.treasuryVault);
    for (const vault of [addresses.treasuryVault, addresses.vault]) {
      const baseUnits = await chain.tokens(vault);
      hold(vault, baseUnits, true);
      await expectRefusal(world, 'PayeeUnavailable', ofTreasury());
      hold(vault, baseUnits);
    }
    await chain.send([ofTreasury()]);
  });
});

describe('claim_pay', () => {
  it.each(['treasury', 'vault', 'treasury_vault', 'payout'])(
    'refuses any other account as %s',
    async (role) => {
      await upholdDispute();
      const other = role === 'treasury' ? world.worker : world.payout;
      await expectRefusal(world, 'WrongAddress', withAccount(ofWallet(), role, other));
    },
  );

  it('refuses a claimant that is neither wallet, worker nor treasury', async () => {
    const claim = claimPay({ claimant: world.gateway });
    await expectRefusal(world, 'WrongDiscriminator', claim);
  });
});
