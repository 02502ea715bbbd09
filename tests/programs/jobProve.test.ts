import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { PublicKey } from '@solana/web3.js';
import { expectConserved } from './support/conservation.ts';
import { eventsOf, expectEvent } from './support/emission.ts';
import { expectRefusal, expectUntil, pass } from './support/expectations.ts';
import { ANSWER, acknowledge, jobIn, prove, REQUEST, readJob } from './support/jobs.ts';
import { addWorker } from './support/newcomers.ts';
import { createWorld, hashOf, type World } from './support/world.ts';

let world: World;
const workers: PublicKey[] = [];
beforeAll(async () => {
  world = await createWorld();
  workers.push(world.worker);
});
afterEach(() => expectConserved(world, { workers }));

// What is no proof of a job: tests/programs/proofs.test.ts.
describe('job_prove', () => {
  it('records the proof from any sender', async () => {
    const job = await jobIn(world, 'processing');
    await pass(world, 11n);
    const before = await readJob(world, job);
    const output = { outputHash: ANSWER, promptTokens: 20, completionTokens: 300 };
    await expectEvent(world, [prove(world, job)], [], 'JobProven', {
      ...{ job, jobSequence: 3, jobId: before.jobId, worker: world.worker, attempt: 1 },
      ...{ proofKey: world.proofKey.publicKey, ...output, requestCommitment: REQUEST },
    });
    expect(await readJob(world, job)).toEqual({
      ...before,
      sequence: 3,
      status: 'settling',
      ...output,
      provenAfterSeconds: 11,
    });
  });

  it('accepts the identical proof again without effect, and refuses another', async () => {
    const job = await jobIn(world, 'settling');
    // A Job does not keep the commitment.
    for (const same of [{}, { requestCommitment: hashOf('another request') }]) {
      expect(await eventsOf(world, [prove(world, job, same)])).toEqual([]);
      expect((await readJob(world, job)).sequence).toBe(3);
    }
    for (const other of [
      { outputHash: hashOf('another answer') },
      { promptTokens: 21 },
      { completionTokens: 301 },
    ]) {
      await expectRefusal(world, 'ProofAlreadyGiven', prove(world, job, other));
    }
  });

  it.each([0, 2 ** 32 - 1])('records %i tokens', async (tokens) => {
    const job = await jobIn(world, 'processing');
    const counts = { promptTokens: tokens, completionTokens: tokens };
    await world.chain.send([prove(world, job, counts)]);
    expect(await readJob(world, job)).toMatchObject(counts);
  });

  it('succeeds until its deadline and fails a second after', async () => {
    const jobs = [
      await jobIn(world, 'processing'),
      await jobIn(world, 'processing'),
      await jobIn(world, 'processing'),
    ];
    const sent = jobs.map((job) => prove(world, job));
    await expectUntil(world, 120n, 'DeadlinePassed', sent);
  });

  it.each(['pending', 'settled', 'failed', 'refunded', 'disputed'] as const)(
    'refuses a job that is %s',
    async (status) => {
      const job = await jobIn(world, status);
      const refusal = status === 'pending' ? 'WrongAddress' : 'WrongJobStatus';
      const isUnassigned = status === 'failed' || status === 'refunded';
      await expectRefusal(world, isUnassigned ? 'WrongAddress' : refusal, prove(world, job));
    },
  );

  it('refuses a worker but the acknowledged one', async () => {
    const { chain, hotSigner } = world;
    const second = await addWorker(world);
    workers.push(second.address);
    const job = await jobIn(world, 'processing');
    const proof = { worker: second.address, key: second.proofKey };
    await expectRefusal(world, 'WrongAddress', prove(world, job, proof));
    const again = acknowledge(world, job, { worker: second.address, attempt: 2 });
    await chain.send([again], [hotSigner]);
    await expectRefusal(world, 'WrongAddress', prove(world, job, { attempt: 2 }));
    const byFirst = { ...proof, key: world.proofKey, attempt: 2 };
    await expectRefusal(world, 'SignatureInvalid', prove(world, job, byFirst));
    await chain.send([prove(world, job, { ...proof, attempt: 2 })]);
    expect(await readJob(world, job)).toMatchObject({ status: 'settling', attempt: 2 });
  });
});
