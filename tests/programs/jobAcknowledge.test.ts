import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { PublicKey } from '@solana/web3.js';
import {
  gatewayUpdate,
  spenderSet,
  stakeUnlock,
  workerDeregister,
  workerSuspend,
  workerUnhost,
} from '../../programs/client/index.ts';
import { UNLIMITED } from '../../testing/kit/setUp.ts';
import { expectConserved } from './support/conservation.ts';
import { eventsOf, expectEvent } from './support/emission.ts';
import { expectRefusal, expectUntil, pass } from './support/expectations.ts';
import {
  acknowledge,
  composeLock,
  fail,
  jobIn,
  lockJob,
  prove,
  readJob,
  settle,
} from './support/jobs.ts';
import { addWorker } from './support/newcomers.ts';
import { createWorld, MODEL, type World } from './support/world.ts';

let world: World;
let workers: PublicKey[];
beforeEach(async () => {
  world = await createWorld();
  workers = [world.worker];
});
afterEach(() => expectConserved(world, { workers }));

describe('job_acknowledge', () => {
  it('records the worker, the attempt and the time', async () => {
    const { instruction, job, jobId } = await composeLock(world);
    await world.chain.send([instruction], [world.hotSigner]);
    const before = await readJob(world, job);
    await pass(world, 7n);
    const acknowledged = { worker: world.worker, attempt: 1 };
    await expectEvent(world, [acknowledge(world, job)], [world.hotSigner], 'JobAcknowledged', {
      job,
      jobSequence: 2,
      jobId,
      ...acknowledged,
      voidedWorker: PublicKey.default,
      voidedAttempt: 0,
      voidedOutputHash: new Uint8Array(32),
    });
    expect(await readJob(world, job)).toEqual({
      ...before,
      sequence: 2,
      status: 'processing',
      worker: world.worker,
      attempt: 1,
      acknowledgedAfterSeconds: 7,
    });
  });

  it('changes nothing when repeated, even after a proof', async () => {
    const job = await jobIn(world, 'processing');
    expect(await eventsOf(world, [acknowledge(world, job)], [world.hotSigner])).toEqual([]);
    expect((await readJob(world, job)).sequence).toBe(2);
    await world.chain.send([prove(world, job)]);
    expect(await eventsOf(world, [acknowledge(world, job)], [world.hotSigner])).toEqual([]);
    expect((await readJob(world, job)).sequence).toBe(3);
  });

  it('accepts a later attempt and refuses an earlier or equal one', async () => {
    const job = await jobIn(world, 'processing');
    await world.chain.send([acknowledge(world, job, { attempt: 3 })], [world.hotSigner]);
    for (const attempt of [0, 1, 2]) {
      await expectRefusal(world, 'AttemptNotNewer', acknowledge(world, job, { attempt }), [
        world.hotSigner,
      ]);
    }
    expect((await readJob(world, job)).attempt).toBe(3);
  });

  it('accepts attempts up to 255', async () => {
    const job = await lockJob(world);
    const { chain, hotSigner } = world;
    await expectRefusal(world, 'AttemptNotNewer', acknowledge(world, job, { attempt: 0 }), [
      hotSigner,
    ]);
    await chain.send([acknowledge(world, job, { attempt: 255 })], [hotSigner]);
    const another = await addWorker(world);
    const wrapped = acknowledge(world, job, { attempt: 255, worker: another.address });
    await expectRefusal(world, 'AttemptNotNewer', wrapped, [hotSigner]);
    workers.push(another.address);
  });

  it('keeps the later worker when an earlier acknowledgement arrives late', async () => {
    const { chain, hotSigner } = world;
    const another = await addWorker(world);
    workers.push(another.address);
    const job = await lockJob(world);
    const later = acknowledge(world, job, { worker: another.address, attempt: 2 });
    await chain.send([later], [hotSigner]);
    const delayed = acknowledge(world, job, { attempt: 1 });
    await expectRefusal(world, 'AttemptNotNewer', delayed, [hotSigner]);
    expect((await readJob(world, job)).worker).toEqual(another.address);
  });

  it('succeeds until its deadline and fails a second after', async () => {
    const jobs = [await lockJob(world), await lockJob(world), await lockJob(world)];
    const sent = jobs.map((job) => acknowledge(world, job));
    await expectUntil(world, 120n, 'DeadlinePassed', sent, [world.hotSigner]);
  });

  it('refuses every signer but the controller, also after the wallet’s change', async () => {
    const { chain, wallet, stranger, hotSigner } = world;
    const job = await lockJob(world);
    for (const signer of [wallet, stranger]) {
      const instruction = acknowledge(world, job, { signer: signer.publicKey });
      await expectRefusal(world, 'Unauthorized', instruction, [signer]);
    }
    const set = spenderSet({ wallet: wallet.publicKey, spender: wallet.publicKey, ...UNLIMITED });
    await chain.send([set], [wallet]);
    await chain.send([acknowledge(world, job)], [hotSigner]);
  });

  it('replaces an earlier attempt’s proof, and the event names its worker', async () => {
    const { chain, hotSigner, worker } = world;
    const another = await addWorker(world);
    workers.push(another.address);
    const job = await jobIn(world, 'settling');
    const proven = await readJob(world, job);
    const later = acknowledge(world, job, { worker: another.address, attempt: 2 });
    await expectEvent(world, [later], [hotSigner], 'JobAcknowledged', {
      job,
      jobSequence: proven.sequence + 1,
      jobId: proven.jobId,
      worker: another.address,
      attempt: 2,
      voidedWorker: worker,
      voidedAttempt: proven.attempt,
      voidedOutputHash: proven.outputHash,
    });
    expect(await readJob(world, job)).toEqual({
      ...proven,
      sequence: proven.sequence + 1,
      status: 'processing',
      worker: another.address,
      attempt: 2,
      outputHash: new Uint8Array(32),
      promptTokens: 0,
      completionTokens: 0,
      provenAfterSeconds: 0,
    });
    // The proof that was put aside can neither come back nor be settled.
    await expectRefusal(world, 'WrongAddress', prove(world, job), []);
    await expectRefusal(world, 'WrongAddress', settle(world, job), [hotSigner]);
    const proof = { worker: another.address, key: another.proofKey, attempt: 2 };
    await chain.send([prove(world, job, proof)]);
    expect(await readJob(world, job)).toMatchObject({ status: 'settling', attempt: 2 });
  });

  it('accepts a gateway’s new signers', async () => {
    const { chain, operator, stranger, hotSigner } = world;
    const job = await lockJob(world);
    const signers = [stranger.publicKey];
    const update = gatewayUpdate({ operator: operator.publicKey, signers, stopped: false });
    await chain.send([update], [operator]);
    await expectRefusal(world, 'Unauthorized', acknowledge(world, job), [hotSigner]);
    await chain.send([acknowledge(world, job, { signer: stranger.publicKey })], [stranger]);
  });

  it('refuses a stopped gateway’s new attempt, not the end of running ones', async () => {
    const { chain, operator, hotSigner } = world;
    const [waiting, running] = [await lockJob(world), await jobIn(world, 'processing')];
    const signers = [hotSigner.publicKey];
    const stop = gatewayUpdate({ operator: operator.publicKey, signers, stopped: true });
    await chain.send([stop], [operator]);
    await expectRefusal(world, 'GatewayStopped', acknowledge(world, waiting), [hotSigner]);
    const next = acknowledge(world, running, { attempt: 2 });
    await expectRefusal(world, 'GatewayStopped', next, [hotSigner]);
    expect(await eventsOf(world, [acknowledge(world, running)], [hotSigner])).toEqual([]);
    await chain.send([prove(world, running), settle(world, running)], [hotSigner]);
    expect((await readJob(world, running)).status).toBe('settled');
    await chain.send([fail(world, waiting)], [hotSigner]);
    expect((await readJob(world, waiting)).status).toBe('failed');
  });

  it('refuses a suspended, unstaking, under-staked or deregistered worker', async () => {
    const { chain, workerAuthority, arbiter, worker, hotSigner } = world;
    const authority = workerAuthority.publicKey;
    const job = await lockJob(world);
    const refused = () =>
      expectRefusal(world, 'WorkerNotEligible', acknowledge(world, job), [hotSigner]);
    const suspend = (suspended: boolean) =>
      chain.send([workerSuspend({ arbiter: arbiter.publicKey, worker, suspended })], [arbiter]);
    await suspend(true);
    await refused();
    await suspend(false);
    await chain.send([stakeUnlock({ authority, tokens: 1n })], [workerAuthority]);
    await refused();
    await chain.send([workerDeregister({ authority })], [workerAuthority]);
    await refused();
  });

  it('refuses a worker that does not host the model', async () => {
    const job = await lockJob(world);
    const unhost = { authority: world.workerAuthority.publicKey, modelId: MODEL.id };
    await world.chain.send([workerUnhost(unhost)], [world.workerAuthority]);
    await expectRefusal(world, 'WorkerDoesNotHostModel', acknowledge(world, job), [
      world.hotSigner,
    ]);
  });

  it.each(['settled', 'failed', 'refunded', 'disputed'] as const)(
    'refuses a job that is %s',
    async (status) => {
      const job = await jobIn(world, status);
      await expectRefusal(world, 'WrongJobStatus', acknowledge(world, job), [world.hotSigner]);
    },
  );
});
