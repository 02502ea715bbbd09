import { beforeEach, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import {
  workerDeregister,
  workerEndpoint,
  workerSuspend,
  workerUpdate,
} from '../../programs/client/index.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal } from './support/expectations.ts';
import { acknowledge, jobIn, prove } from './support/jobs.ts';
import { expectPayeesRefused, expectTermsRefused } from './support/payees.ts';
import { withAccount } from './support/tampering.ts';
import { createWorld, type World } from './support/world.ts';

const SUSPENDED = 'suspended';
const DEREGISTERED = 'deregistered';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});

const worker = () => world.read('Worker', world.worker);
const update = (changes: object = {}, authority = world.workerAuthority) =>
  withAccount(
    workerUpdate({
      authority: authority.publicKey,
      payout: world.payout,
      proofKey: world.proofKey.publicKey,
      endpoint: 'https://a.example',
      ...changes,
    }),
    'worker',
    world.worker,
  );
const leave = () => workerDeregister({ authority: world.workerAuthority.publicKey });

describe('worker_update', () => {
  it.each([1, 128])('records payee, proof key and an endpoint of %i characters', async (length) => {
    const { workerAuthority, stranger, creditMint } = world;
    const endpoint = 'h'.repeat(length);
    const before = await worker();
    const payout = world.token(creditMint, stranger.publicKey);
    const described = { proofKey: stranger.publicKey, payout };
    const instruction = update({ ...described, endpoint });
    const rotated = {
      previousProofKey: world.proofKey.publicKey,
      proofKeyChangedAt: await world.chain.now(),
    };
    await expectEvent(world, [instruction], [workerAuthority], 'WorkerUpdated', {
      ...{ worker: world.worker, workerSequence: 4n },
      ...{ authority: workerAuthority.publicKey, ...described, endpoint, ...rotated },
    });
    const found = await worker();
    expect(workerEndpoint(found)).toBe(endpoint);
    const endpointBytes = new Uint8Array(128);
    endpointBytes.set(Buffer.from(endpoint));
    expect(found).toEqual({
      ...before,
      sequence: 4n,
      ...described,
      ...rotated,
      endpointLen: endpoint.length,
      endpoint: endpointBytes,
    });
  });

  it.each([false, true])(
    'makes only the new key’s proofs valid, at once (worker deregistered: %s)',
    async (left) => {
      const { chain, workerAuthority, stranger } = world;
      const job = await jobIn(world, 'processing');
      if (left) await chain.send([leave()], [workerAuthority]);
      await chain.send([update({ proofKey: stranger.publicKey })], [workerAuthority]);
      await expectRefusal(world, 'SignatureInvalid', prove(world, job));
      await chain.send([prove(world, job, { key: stranger })]);
    },
  );

  it('keeps a key until no dispute can need it any more', async () => {
    const { chain, workerAuthority, proofKey } = world;
    const [second, third] = [Keypair.generate(), Keypair.generate()];
    const changeTo = ({ publicKey }: Keypair) => update({ proofKey: publicKey });
    await chain.send([changeTo(second)], [workerAuthority]);
    const changedAt = await chain.now();
    // The longest life of a job: timeout, dispute window and arbitration, and an hour.
    const decidedAt = changedAt + 120n + 60n + 86_400n + 3_600n;
    await chain.setTime(decidedAt - 1n);
    for (const key of [third, proofKey]) {
      await expectRefusal(world, 'ProofKeyInUse', changeTo(key), [workerAuthority]);
    }
    // Everything else may have changed by then.
    await chain.send([update({ proofKey: second.publicKey })], [workerAuthority]);
    await chain.setTime(decidedAt);
    await chain.send([changeTo(third)], [workerAuthority]);
    expect(await worker()).toMatchObject({
      proofKey: third.publicKey,
      previousProofKey: second.publicKey,
      proofKeyChangedAt: decidedAt,
    });
  });

  it("refuses payees that are no stablecoin token account, or the escrow's", () =>
    expectPayeesRefused(world, update, world.workerAuthority));

  it('refuses endpoints that are empty, too long or unprintable, and key zero', () =>
    expectTermsRefused(world, update, world.workerAuthority));

  it('requires the signature of the worker’s authority', async () => {
    for (const signer of [world.stranger, world.arbiter, world.authority, world.proofKey]) {
      await expectRefusal(world, 'Unauthorized', update({}, signer), [signer]);
    }
  });

  it('is allowed for a suspended worker, which stays suspended', async () => {
    const { chain, arbiter, workerAuthority } = world;
    const suspension = { arbiter: arbiter.publicKey, worker: world.worker, suspended: true };
    await chain.send([workerSuspend(suspension)], [arbiter]);
    await chain.send([update()], [workerAuthority]);
    expect((await worker()).status).toBe(SUSPENDED);
  });

  it('is allowed for a deregistered worker, which gets no new jobs by it', async () => {
    const { chain, hotSigner, workerAuthority, stranger, creditMint } = world;
    const job = await jobIn(world, 'pending');
    await chain.send([leave()], [workerAuthority]);
    const before = await worker();
    const payout = world.token(creditMint, stranger.publicKey);
    await chain.send([update({ payout })], [workerAuthority]);
    expect(await worker()).toMatchObject({
      ...{ payout, status: DEREGISTERED, sequence: before.sequence + 1n },
      ...{ stakeTokens: before.stakeTokens, models: before.models },
    });
    await expectRefusal(world, 'WorkerNotEligible', acknowledge(world, job), [hotSigner]);
  });
});
