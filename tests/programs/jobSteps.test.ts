import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { PublicKey } from '@solana/web3.js';
import { FAILURE_REASONS } from '../../programs/client/generated/vocabulary.ts';
import { jobClose } from '../../programs/client/index.ts';
import { expectConserved } from './support/conservation.ts';
import { expectEffect, expectNoEffect } from './support/emission.ts';
import { expectRefusal, pass } from './support/expectations.ts';
import { freshWorld } from './support/freshWorld.ts';
import {
  ANSWER,
  acknowledge,
  fail,
  jobIn,
  lockJob,
  prove,
  REQUEST,
  readJob,
  refund,
  settle,
} from './support/jobs.ts';
import { addWorker } from './support/newcomers.ts';
import { setSpender } from './support/parties.ts';
import { CREDITS, hashOf, send, type World } from './support/world.ts';

let world: World;
beforeEach(async () => {
  world = await freshWorld();
});
afterEach(() => expectConserved(world));

const NO_PROOF = {
  voidedWorker: PublicKey.default,
  voidedAttempt: 0,
  voidedOutputHash: new Uint8Array(32),
};

// What they refuse: support/refusals/jobs.ts. Status and signer: jobMatrix.test.ts.
describe('job_acknowledge', () => {
  it('records the worker, the attempt and the time', async () => {
    const { worker } = world;
    const job = await lockJob(world);
    await pass(world, 7n);
    await expectEffect({ ...world, job }, acknowledge(world, job), 'JobAcknowledged', {
      job: { status: 'processing', worker, attempt: 1, acknowledgedAfterSeconds: 7 },
      said: NO_PROOF,
    });
  });

  it('changes nothing when repeated, also after a proof', async () => {
    const job = await jobIn(world, 'processing');
    await expectNoEffect({ ...world, job }, acknowledge(world, job));
    await send(world, prove(world, job));
    await expectNoEffect({ ...world, job }, acknowledge(world, job));
  });

  it('replaces an earlier attempt’s proof, and the event names its worker', async () => {
    const another = await addWorker(world);
    const job = await jobIn(world, 'settling');
    const later = acknowledge(world, job, { worker: another.address, attempt: 2 });
    await expectEffect({ ...world, job }, later, 'JobAcknowledged', {
      job: {
        status: 'processing',
        worker: another.address,
        attempt: 2,
        outputHash: new Uint8Array(32),
        promptTokens: 0,
        completionTokens: 0,
        provenAfterSeconds: 0,
      },
      said: { voidedWorker: world.worker, voidedAttempt: 1, voidedOutputHash: ANSWER },
    });
    // The proof that was put aside can neither come back nor be settled.
    for (const late of [prove(world, job), settle(world, job)]) {
      await expectRefusal(world, 'WrongAddress', late);
    }
    const delayed = acknowledge(world, job);
    await expectRefusal(world, 'AttemptNotNewer', delayed);
    const proof = { worker: another.address, attempt: 2 };
    await expectRefusal(world, 'SignatureInvalid', prove(world, job, proof));
    await send(world, prove(world, job, { ...proof, key: another.proofKey }));
    expect(await readJob(world, job)).toMatchObject({ status: 'settling', attempt: 2 });
  });

  it('stays the controller’s right when the wallet names another spender', async () => {
    const { stranger } = world;
    const job = await lockJob(world);
    await setSpender(world, stranger.publicKey);
    for (const step of [acknowledge, fail]) {
      const byNew = step(world, job, { signer: stranger.publicKey });
      await expectRefusal(world, 'Unauthorized', byNew);
      await send(world, step(world, job));
    }
  });
});

describe('job_prove', () => {
  it.each([0, 300, 2 ** 32 - 1])('records a proof of %i tokens from any sender', async (tokens) => {
    const job = await jobIn(world, 'processing');
    await pass(world, 11n);
    const output = { outputHash: ANSWER, promptTokens: tokens, completionTokens: tokens };
    await expectEffect({ ...world, job }, prove(world, job, output), 'JobProven', {
      job: { status: 'settling', ...output, provenAfterSeconds: 11 },
      said: { proofKey: world.proofKey.publicKey, statement: REQUEST },
    });
  });

  it('accepts the identical proof again without effect', async () => {
    const job = await jobIn(world, 'settling');
    // A Job does not keep the commitment.
    for (const same of [{}, { statement: hashOf('another request') }]) {
      await expectNoEffect({ ...world, job }, prove(world, job, same));
    }
  });
});

/** What the end of a job without a charge makes of its account. */
const RETURNED = { availableCredits: CREDITS, lockedCredits: 0n, spentTodayCredits: 0n };

describe('job_fail', () => {
  it.each(['pending', 'processing'] as const)(
    'returns the lock of a job that is %s, for each reason',
    async (status) => {
      for (const reason of FAILURE_REASONS.slice(1)) {
        const job = await jobIn(world, status);
        await pass(world, 3n);
        await expectEffect({ ...world, job }, fail(world, job, { reason }), 'JobFailed', {
          job: { status: 'failed', failureReason: reason, endedAfterSeconds: 3 },
          creditAccount: RETURNED,
          said: { returnedCredits: 8n },
        });
      }
    },
  );
});

describe('job_refund', () => {
  it.each(['pending', 'processing', 'settling'] as const)(
    'returns the lock of an overdue job that is %s, for any caller [failures.timeout]',
    async (status) => {
      const job = await jobIn(world, status);
      await pass(world, 121n);
      await expectEffect({ ...world, job }, refund(world, job), 'JobRefunded', {
        job: { status: 'refunded', endedAfterSeconds: 121 },
        creditAccount: RETURNED,
        said: { returnedCredits: 8n },
      });
    },
  );
});

describe('job_close', () => {
  const close = (job: PublicKey) => jobClose({ job, rentPayer: world.chain.payer.publicKey });

  it('repays the rent to its payer, for any caller', async () => {
    const { chain } = world;
    const rentPayer = chain.payer.publicKey;
    const job = await jobIn(world, 'failed');
    await pass(world, 120n);
    const lamports = async (address: PublicKey) => (await chain.account(address))?.lamports ?? 0;
    const [rent, before] = [await lamports(job), await lamports(rentPayer)];
    const { jobId, sequence } = await readJob(world, job);
    await send(world, close(job));
    expect(chain.lastEvents()).toMatchObject([
      {
        name: 'JobClosed',
        data: { job, jobSequence: sequence + 1, jobId, rentPayer, rentLamports: BigInt(rent) },
      },
    ]);
    expect(await chain.account(job)).toBeNull();
    // one signature of 5,000 lamports
    expect(await lamports(rentPayer)).toBe(before + rent - 5_000);
    await expectRefusal(world, 'WrongAccountOwner', close(job));
  });
});
