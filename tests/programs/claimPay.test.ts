import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { PublicKey } from '@solana/web3.js';
import { claimPay, creditOpen, workerUpdate } from '../../programs/client/index.ts';
import { expectConserved } from './support/conservation.ts';
import { expectEffect } from './support/emission.ts';
import { expectRefusal } from './support/expectations.ts';
import { freshWorld } from './support/freshWorld.ts';
import { jobIn } from './support/jobs.ts';
import { freeze, hold, leave } from './support/parties.ts';
import { decide } from './support/verdicts.ts';
import { addresses, CREDITS, send, type World } from './support/world.ts';

let world: World;
beforeEach(async () => {
  world = await freshWorld();
});
afterEach(() => expectConserved(world));

const ofWorker = () => claimPay({ claimant: world.worker, payout: world.payout });
/** Settles a job of 8 credits while a token account is frozen, and thaws it again. */
const settleWhileFrozen = async (address: PublicKey) => {
  const thaw = await freeze(world, address);
  await jobIn(world, 'settled');
  thaw();
};
const NOTHING_ELSE = { credits: 0n, remainingBaseUnits: 0n, availableCredits: 0n };

// What it refuses: support/refusals/accounts.ts, and accounts.test.ts.
describe('claim_pay', () => {
  it('turns what a wallet is owed into credits, up to the treasury’s tokens', async () => {
    const { chain, creditAccount: claimant, stranger } = world;
    // A job of 8 credits paid the treasury 12,000 base units and now costs it 80,000.
    await decide(world, await jobIn(world, 'disputed'), 'upheld_gateway');
    const { sequence } = await world.read('CreditAccount', claimant);
    const claim = claimPay({ claimant });
    await expectEffect(world, claim, 'ClaimPaid', {
      creditAccount: { owedCredits: 7n, availableCredits: CREDITS - 7n },
      treasury: { owedBaseUnits: 70_000n },
      said: {
        claimant,
        claimantKind: 'credit_account',
        claimantSequence: sequence + 1n,
        baseUnits: 10_000n,
        credits: 1n,
        remainingBaseUnits: 70_000n,
        availableCredits: CREDITS - 7n,
      },
    });
    expect(await chain.tokens(addresses.treasuryVault)).toBe(2_000n);
    await expectRefusal(world, 'NothingToClaim', claim);

    hold(world, addresses.treasuryVault, 1_000_000n);
    const wallet = stranger.publicKey;
    await send(world, creditOpen({ payer: wallet, wallet }));
    const others = claimPay({ claimant: addresses.creditAccount(wallet) });
    await expectRefusal(world, 'NothingToClaim', others);
    await send(world, claim);
    const account = await world.read('CreditAccount', claimant);
    expect(account).toMatchObject({ owedCredits: 0n, availableCredits: CREDITS });
    expect(await chain.tokens(addresses.treasuryVault)).toBe(930_000n);
  });

  it('pays a worker once what could not be paid at settlement', async () => {
    const { chain, payout, worker: claimant } = world;
    await settleWhileFrozen(payout);
    await settleWhileFrozen(payout);
    const { sequence } = await world.read('Worker', claimant);
    await expectEffect(world, ofWorker(), 'ClaimPaid', {
      worker: { claimableBaseUnits: 0n },
      said: {
        ...NOTHING_ELSE,
        claimant,
        claimantKind: 'worker',
        claimantSequence: sequence + 1n,
        baseUnits: 136_000n,
      },
    });
    expect(await chain.tokens(payout)).toBe(136_000n);
    await expectRefusal(world, 'NothingToClaim', ofWorker());
  });

  it('pays the treasury once the shares that could not be paid at settlement', async () => {
    const claimant = addresses.treasury;
    await settleWhileFrozen(addresses.treasuryVault);
    const { sequence } = await world.read('Treasury', claimant);
    const claim = claimPay({ claimant });
    await expectEffect(world, claim, 'ClaimPaid', {
      treasury: { unpaidBaseUnits: 0n },
      said: {
        ...NOTHING_ELSE,
        claimant,
        claimantKind: 'treasury',
        claimantSequence: sequence + 1n,
        baseUnits: 12_000n,
      },
    });
    expect(await world.chain.tokens(addresses.treasuryVault)).toBe(12_000n);
    await expectRefusal(world, 'NothingToClaim', claim);
  });

  it('pays a worker that left with an unusable payee once it names another', async () => {
    const { chain, payout, creditMint, workerAuthority, proofKey } = world;
    const authority = workerAuthority.publicKey;
    await freeze(world, payout);
    await jobIn(world, 'settled');
    await leave(world);
    await expectRefusal(world, 'PayeeUnavailable', ofWorker());
    const other = world.token(creditMint, authority);
    const described = { proofKey: proofKey.publicKey, endpoint: 'https://worker.example' };
    await send(world, workerUpdate({ authority, payout: other, ...described }));
    await expectRefusal(world, 'WrongAddress', ofWorker());
    await send(world, claimPay({ claimant: world.worker, payout: other }));
    expect(await chain.tokens(other)).toBe(68_000n);
  });
});
