import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { PublicKey } from '@solana/web3.js';
import type { DisputeOutcome } from '../../programs/client/generated/vocabulary.ts';
import { gatewayOpen, gatewayVouch, spenderSet } from '../../programs/client/index.ts';
import { openWorker, UNLIMITED } from '../../testing/kit/setUp.ts';
import { expectConserved } from './support/conservation.ts';
import { jobIn, readJob } from './support/jobs.ts';
import { decide } from './support/verdicts.ts';
import { addresses, createWorld, MODEL, STAKE_TOKENS, type World } from './support/world.ts';

const UPHELD_GATEWAY = 'upheld_gateway';
const UPHELD_WORKER = 'upheld_worker';

let world: World;
let parties: { creditAccounts: PublicKey[]; workers: PublicKey[] };
let job: PublicKey;
beforeEach(async () => {
  world = await createWorld();
  parties = { creditAccounts: [world.creditAccount], workers: [world.worker] };
});
afterEach(() => expectConserved(world, parties));

async function openCase(): Promise<void> {
  job = await jobIn(world, 'disputed');
}

describe('a job of a gateway without the authority’s voucher', () => {
  it('is repaid the treasury’s own share alone', async () => {
    const { chain, authority, gateway } = world;
    await chain.send(
      [gatewayVouch({ authority: authority.publicKey, gateway, vouched: false })],
      [authority],
    );
    await openCase();
    expect(await world.read('Treasury', addresses.treasury)).toMatchObject({
      disputedExposureBaseUnits: 10_000n,
    });
    await decide(world, job, UPHELD_GATEWAY);
    expect(await world.read('CreditAccount', world.creditAccount)).toMatchObject({
      owedCredits: 1n,
    });
    expect(await world.read('Treasury', addresses.treasury)).toMatchObject({
      disputedExposureBaseUnits: 0n,
      owedBaseUnits: 10_000n,
    });
    expect(await readJob(world, job)).toMatchObject({ status: 'refunded', chargedCredits: 7n });
  });

  it('is judged by what the gateway was at the lock, not at the verdict', async () => {
    const { chain, authority, gateway } = world;
    const vouch = (vouched: boolean) =>
      chain.send([gatewayVouch({ authority: authority.publicKey, gateway, vouched })], [authority]);
    await openCase();
    await vouch(false);
    await decide(world, job, UPHELD_GATEWAY);
    expect(await world.read('CreditAccount', world.creditAccount)).toMatchObject({
      owedCredits: 8n,
    });
    await openCase();
    await vouch(true);
    await decide(world, job, UPHELD_GATEWAY);
    expect(await world.read('CreditAccount', world.creditAccount)).toMatchObject({
      owedCredits: 9n,
    });
  });

  it('gains nothing for an arbiter with a wallet, worker and gateway', async () => {
    const { wallet, walletTokens, stakeMint, chain, hotSigner } = world;
    const party = {
      authority: wallet,
      proofKey: wallet,
      payout: walletTokens,
      address: addresses.worker(wallet.publicKey),
      stakeTokens: world.token(stakeMint, wallet.publicKey, 10n ** 12n),
    };
    await openWorker(world, party, { stakeTokens: STAKE_TOKENS, modelIds: [MODEL.id] });
    parties.workers.push(party.address);
    const gateway = addresses.gateway(wallet.publicKey);
    const opened = { payer: wallet.publicKey, operator: wallet.publicKey };
    const trusted = { wallet: wallet.publicKey, spender: gateway, ...UNLIMITED };
    await chain.send(
      [gatewayOpen({ ...opened, signers: [hotSigner.publicKey] }), spenderSet(trusted)],
      [wallet],
    );
    const { address: worker } = party;
    world = { ...world, gateway, worker, proofKey: wallet, payout: walletTokens };
    const treasuryBaseUnits = async () =>
      (await chain.tokens(addresses.treasuryVault)) -
      (await world.read('Treasury', addresses.treasury)).owedBaseUnits;
    const before = await treasuryBaseUnits();
    const verdicts = [...Array<DisputeOutcome>(10).fill(UPHELD_GATEWAY), UPHELD_WORKER] as const;
    for (const verdict of verdicts) {
      await openCase();
      await decide(world, job, verdict);
    }
    // Each charge of 80,000 base units brings the treasury 12,000; a whole credit of it goes back.
    expect(await treasuryBaseUnits()).toBe(before + 11n * 2_000n);
    expect(await world.read('CreditAccount', world.creditAccount)).toMatchObject({
      owedCredits: 11n,
    });
  });
});
