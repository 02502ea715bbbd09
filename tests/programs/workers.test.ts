import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Keypair, PublicKey } from '@solana/web3.js';
import {
  stakeDeposit,
  stakeUnlock,
  stakeWithdraw,
  workerDeregister,
  workerEndpoint,
  workerHost,
  workerModels,
  workerRegister,
  workerSuspend,
  workerUnhost,
  workerUpdate,
} from '../../programs/client/index.ts';
import { expectConserved } from './support/conservation.ts';
import { expectRefusal, pass } from './support/expectations.ts';
import { withAccount } from './support/tampering.ts';
import {
  addresses,
  createWorld,
  MODEL,
  modelInstruction,
  SETTINGS,
  STAKE_TOKENS,
  type World,
} from './support/world.ts';

const COOLDOWN = BigInt(SETTINGS.unstakeCooldownSeconds);
const ACTIVE = 0;
const SUSPENDED = 1;
const DEREGISTERED = 2;

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => expectConserved(world));

const worker = () => world.read('Worker', world.worker);
const ofWorker = (instruction: Parameters<typeof withAccount>[0]) =>
  withAccount(instruction, 'worker', world.worker);

describe.each([
  ['worker_register', workerRegister, () => world.stranger],
  ['worker_update', workerUpdate, () => world.workerAuthority],
] as const)('%s', (_, build, signer) => {
  const described = (changes: object = {}) =>
    build({
      authority: signer().publicKey,
      payout: world.payout,
      proofKey: world.stranger.publicKey,
      endpoint: 'https://a.example',
      ...changes,
    });

  it('records payee, proof key and endpoint', async () => {
    const endpoint = `https://${'a'.repeat(120)}`;
    await world.chain.send([described({ endpoint })], [signer()]);
    const found = await world.read('Worker', addresses.worker(signer().publicKey));
    expect(workerEndpoint(found)).toBe(endpoint);
    expect(found).toMatchObject({
      authority: signer().publicKey,
      proofKey: world.stranger.publicKey,
      payout: world.payout,
      status: ACTIVE,
    });
  });

  it('refuses payees that are no token account of the stablecoin, or ours', async () => {
    const { stakeMint, stranger, creditMint } = world;
    const refused = (name: Parameters<typeof expectRefusal>[1], payout: PublicKey) =>
      expectRefusal(world, name, described({ payout }), [signer()]);
    await refused('DuplicateAccount', addresses.vault);
    await refused('DuplicateAccount', addresses.treasuryVault);
    await refused('WrongMint', addresses.stakeVault);
    await refused('WrongMint', world.token(stakeMint, stranger.publicKey));
    await refused('WrongTokenAccount', creditMint);
    await refused('WrongTokenAccount', stranger.publicKey);
  });

  it('refuses endpoints that are empty, too long or not printable, and the zero key', async () => {
    for (const endpoint of ['', 'x'.repeat(129), 'https://\u00e9.example', 'a\tb']) {
      await expectRefusal(world, 'InvalidText', described({ endpoint }), [signer()]);
    }
    const zero = described({ proofKey: PublicKey.default });
    await expectRefusal(world, 'ValueOutOfRange', zero, [signer()]);
  });
});

describe('a worker', () => {
  const authority = () => world.workerAuthority.publicKey;

  it('is registered once for an authority', async () => {
    const again = workerRegister({
      authority: authority(),
      payout: world.payout,
      proofKey: world.proofKey.publicKey,
      endpoint: 'https://a.example',
    });
    await expectRefusal(world, 'AlreadyInitialized', again, [world.workerAuthority]);
  });

  it('is changed by its own authority alone', async () => {
    const { stranger, payout, proofKey } = world;
    const by = { authority: stranger.publicKey };
    for (const instruction of [
      workerUpdate({ ...by, payout, proofKey: proofKey.publicKey, endpoint: 'https://a.example' }),
      workerHost({ ...by, modelId: MODEL.id }),
      workerUnhost({ ...by, modelId: MODEL.id }),
      workerDeregister(by),
      stakeUnlock({ ...by, tokens: 1n }),
      stakeWithdraw({ ...by, destination: world.stakeTokens }),
    ]) {
      await expectRefusal(world, 'Unauthorized', ofWorker(instruction), [stranger]);
    }
  });

  it('hosts up to 16 models, each once', async () => {
    const { chain, workerAuthority } = world;
    const host = (modelId: string) => workerHost({ authority: authority(), modelId });
    await expectRefusal(world, 'AlreadyHosted', host(MODEL.id), [workerAuthority]);
    const ids = Array.from({ length: 16 }, (_, index) => `model-${index}`);
    for (const id of ids) await chain.send([modelInstruction(world, { id })], [world.authority]);
    for (const id of ids.slice(0, 15)) await chain.send([host(id)], [workerAuthority]);
    await expectRefusal(world, 'TooManyModels', host('model-15'), [workerAuthority]);
    const unhost = (modelId: string) => workerUnhost({ authority: authority(), modelId });
    await chain.send([unhost('model-3')], [workerAuthority]);
    await expectRefusal(world, 'NotHosted', unhost('model-3'), [workerAuthority]);
    await chain.send([host('model-15')], [workerAuthority]);
    const hosted = workerModels(await worker()).map((model) => model.toBase58());
    const expected = [MODEL.id, ...ids.filter((id) => id !== 'model-3')];
    expect(hosted.sort()).toEqual(expected.map((id) => addresses.model(id).toBase58()).sort());
  });

  it('is suspended and readmitted by the arbiter alone', async () => {
    const { chain, arbiter, authority: governor } = world;
    const suspend = (suspended: boolean, signer: Keypair = arbiter) =>
      workerSuspend({ arbiter: signer.publicKey, worker: world.worker, suspended });
    await expectRefusal(world, 'Unauthorized', suspend(true, governor), [governor]);
    await expectRefusal(world, 'WrongWorkerStatus', suspend(false), [arbiter]);
    await chain.send([suspend(true)], [arbiter]);
    expect((await worker()).status).toBe(SUSPENDED);
    await expectRefusal(world, 'WrongWorkerStatus', suspend(true), [arbiter]);
    await chain.send([suspend(false)], [arbiter]);
    expect((await worker()).status).toBe(ACTIVE);
  });

  it('leaves for good with its stake, and its sequence never starts again', async () => {
    const { chain, workerAuthority, arbiter, stakeTokens, payout, proofKey } = world;
    const by = { authority: authority() };
    await chain.send([workerDeregister(by)], [workerAuthority]);
    expect((await worker()).status).toBe(DEREGISTERED);
    const description = { payout, proofKey: proofKey.publicKey, endpoint: 'https://a.example' };
    for (const instruction of [
      workerDeregister(by),
      workerUpdate({ ...by, ...description }),
      workerHost({ ...by, modelId: MODEL.id }),
      stakeDeposit({
        depositor: authority(),
        depositorTokenAccount: stakeTokens,
        worker: world.worker,
        tokens: 1n,
      }),
    ]) {
      await expectRefusal(world, 'WrongWorkerStatus', instruction, [workerAuthority]);
    }
    const again = workerRegister({ ...by, ...description });
    await expectRefusal(world, 'AlreadyInitialized', again, [workerAuthority]);
    const suspend = { arbiter: arbiter.publicKey, worker: world.worker, suspended: true };
    await expectRefusal(world, 'WrongWorkerStatus', workerSuspend(suspend), [arbiter]);
    await chain.send([stakeUnlock({ ...by, tokens: STAKE_TOKENS })], [workerAuthority]);
    await pass(world, COOLDOWN);
    const withdraw = stakeWithdraw({ ...by, destination: stakeTokens });
    await chain.send([withdraw], [workerAuthority]);
  });
});

describe('a stake', () => {
  const authority = () => world.workerAuthority.publicKey;
  const deposit = (tokens: bigint, from = world.stakeTokens) =>
    stakeDeposit({
      depositor: authority(),
      depositorTokenAccount: from,
      worker: world.worker,
      tokens,
    });
  const unlock = (tokens: bigint) => stakeUnlock({ authority: authority(), tokens });
  const withdraw = (destination = world.stakeTokens) =>
    stakeWithdraw({ authority: authority(), destination });

  it('grows by whole tokens', async () => {
    const { chain, workerAuthority, stakeTokens } = world;
    const before = await chain.tokens(stakeTokens);
    await chain.send([deposit(5n)], [workerAuthority]);
    expect(await chain.tokens(stakeTokens)).toBe(before - 5_000_000_000n);
    expect((await worker()).stakeTokens).toBe(STAKE_TOKENS + 5n);
    await expectRefusal(world, 'ValueOutOfRange', deposit(0n), [workerAuthority]);
    await expectRefusal(world, 'ValueOutOfRange', deposit(10_000_000_000n), [workerAuthority]);
    await expectRefusal(world, 'ValueOutOfRange', deposit(2n ** 64n - 1n), [workerAuthority]);
  });

  it('refuses token accounts that cannot pay', async () => {
    const { workerAuthority, creditMint, stranger } = world;
    const refused = (name: Parameters<typeof expectRefusal>[1], from: PublicKey) =>
      expectRefusal(world, name, deposit(1n, from), [workerAuthority]);
    await refused('DuplicateAccount', addresses.stakeVault);
    await refused('WrongMint', world.token(creditMint, authority(), 10_000n));
    await refused('WrongTokenAccount', stranger.publicKey);
  });

  it('can be withdrawn when its cooldown is over, not a second before', async () => {
    const { chain, workerAuthority, stakeTokens } = world;
    await expectRefusal(world, 'NothingToClaim', withdraw(), [workerAuthority]);
    await chain.send([unlock(400n)], [workerAuthority]);
    expect(await worker()).toMatchObject({
      stakeTokens: 600n,
      unstakingTokens: 400n,
      unstakeReadyAt: (await chain.now()) + COOLDOWN,
    });
    await pass(world, COOLDOWN - 1n);
    await expectRefusal(world, 'CooldownNotOver', withdraw(), [workerAuthority]);
    await pass(world, 1n);
    await expectRefusal(world, 'DuplicateAccount', withdraw(addresses.stakeVault), [
      workerAuthority,
    ]);
    await expectRefusal(world, 'WrongMint', withdraw(world.payout), [workerAuthority]);
    const before = await chain.tokens(stakeTokens);
    await chain.send([withdraw()], [workerAuthority]);
    expect(await chain.tokens(stakeTokens)).toBe(before + 400_000_000_000n);
    expect(await worker()).toMatchObject({ unstakingTokens: 0n, unstakeReadyAt: 0n });
  });

  it('starts its cooldown anew with every unlock', async () => {
    const { chain, workerAuthority } = world;
    await chain.send([unlock(1n)], [workerAuthority]);
    await pass(world, COOLDOWN - 1n);
    await chain.send([unlock(1n)], [workerAuthority]);
    await pass(world, 1n);
    await expectRefusal(world, 'CooldownNotOver', withdraw(), [workerAuthority]);
    await pass(world, COOLDOWN - 1n);
    await chain.send([withdraw()], [workerAuthority]);
  });

  it('unlocks no more than there is', async () => {
    const { workerAuthority } = world;
    await expectRefusal(world, 'ValueOutOfRange', unlock(0n), [workerAuthority]);
    await expectRefusal(world, 'InsufficientStake', unlock(STAKE_TOKENS + 1n), [workerAuthority]);
  });
});
