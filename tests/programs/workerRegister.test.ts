import { beforeEach, describe, expect, it } from '@jest/globals';
import { SystemProgram } from '@solana/web3.js';
import { ACCOUNT_VERSION, workerEndpoint, workerRegister } from '../../programs/client/index.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal } from './support/expectations.ts';
import { expectPayeesRefused, expectTermsRefused } from './support/payees.ts';
import { withAccount } from './support/tampering.ts';
import { addresses, createWorld, type World } from './support/world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});

const register = (changes: object = {}) =>
  workerRegister({
    authority: world.stranger.publicKey,
    payout: world.payout,
    proofKey: world.proofKey.publicKey,
    endpoint: 'https://a.example',
    ...changes,
  });

describe('worker_register', () => {
  it.each([1, 128])('records a worker and an endpoint of %i characters, once', async (length) => {
    const { chain, stranger, payout, proofKey } = world;
    const endpoint = 'h'.repeat(length);
    const authority = stranger.publicKey;
    const worker = addresses.worker(authority);
    const described = { authority, proofKey: proofKey.publicKey, payout };
    await expectEvent(world, [register({ endpoint })], [stranger], 'WorkerRegistered', {
      ...{ worker, workerSequence: 1n, ...described, endpoint },
    });
    const found = await world.read('Worker', worker);
    expect(workerEndpoint(found)).toBe(endpoint);
    expect(found).toMatchObject({
      version: ACCOUNT_VERSION,
      sequence: 1n,
      ...described,
      status: 'active',
      stakeTokens: 0n,
      unstakingTokens: 0n,
      unstakeReadyAt: 0n,
      claimableBaseUnits: 0n,
      jobsSettled: 0n,
      registeredAt: await chain.now(),
      endpointLen: endpoint.length,
      modelsLen: 0,
      reserved: new Uint8Array(20),
    });
    await expectRefusal(world, 'AlreadyInitialized', register(), [stranger]);
  });

  it("refuses payees that are no stablecoin token account, or the escrow's", () =>
    expectPayeesRefused(world, register, world.stranger));

  it('refuses endpoints that are empty, too long or unprintable, and key zero', () =>
    expectTermsRefused(world, register, world.stranger));

  it('refuses another authority’s address', async () => {
    const other = addresses.worker((await world.person()).publicKey);
    const elsewhere = withAccount(register(), 'worker', other);
    await expectRefusal(world, 'WrongAddress', elsewhere, [world.stranger]);
  });

  it('works when its address already holds lamports', async () => {
    const { chain, stranger } = world;
    const address = addresses.worker(stranger.publicKey);
    const owner = SystemProgram.programId;
    chain.setAccount(address, {
      ...{ lamports: 1_000_000_000, data: new Uint8Array(), owner, executable: false },
    });
    await chain.send([register()], [stranger]);
    expect((await world.read('Worker', address)).sequence).toBe(1n);
  });
});
