import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  Keypair,
  type PublicKey,
  SystemProgram,
  type TransactionInstruction,
} from '@solana/web3.js';
import { ed25519Instruction, sign, workerUpdate } from '../../programs/client/index.ts';
import { expectConserved } from './support/conservation.ts';
import { eventsOf, expectEvent } from './support/emission.ts';
import { expectRefusal, pass } from './support/expectations.ts';
import { ANSWER, acknowledge, jobIn, prove, readJob } from './support/jobs.ts';
import { addWorker } from './support/newcomers.ts';
import { withData } from './support/tampering.ts';
import { createWorld, hashOf, type World } from './support/world.ts';

let world: World;
const workers: PublicKey[] = [];
beforeAll(async () => {
  world = await createWorld();
  workers.push(world.worker);
});
afterEach(() => expectConserved(world, { workers }));

/** The precompile's count and offsets, the key and the signature; the message is what follows. */
const HEADER_BYTES = 16;
const MESSAGE_AT = 112;

/** The same bytes but for one bit. */
const flipped = (data: Uint8Array, at: number): Uint8Array => {
  const changed = Uint8Array.from(data);
  changed[at] = (changed[at] as number) ^ 1;
  return changed;
};

/** What the worker signed, whatever it says. */
const signed = (message: Uint8Array): TransactionInstruction =>
  ed25519Instruction({
    publicKey: world.proofKey.publicKey,
    message,
    signature: sign(message, world.proofKey),
  });

// Forged signatures and what else the precompile refuses: tests/programs/proofs.test.ts.
describe('job_prove', () => {
  it('records the proof from any sender', async () => {
    const job = await jobIn(world, 'processing');
    await pass(world, 11n);
    const before = await readJob(world, job);
    const output = { outputHash: ANSWER, promptTokens: 20, completionTokens: 300 };
    await expectEvent(world, prove(world, job), [], 'JobProven', {
      ...{ job, jobSequence: 3, jobId: before.jobId, worker: world.worker, attempt: 1 },
      ...output,
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
    expect(await eventsOf(world, prove(world, job))).toEqual([]);
    expect((await readJob(world, job)).sequence).toBe(3);
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
    await world.chain.send(prove(world, job, counts));
    expect(await readJob(world, job)).toMatchObject(counts);
  });

  it('succeeds until its deadline and fails a second after', async () => {
    const early = await jobIn(world, 'processing');
    const job = await jobIn(world, 'processing');
    const other = await jobIn(world, 'processing');
    await pass(world, 119n);
    await world.chain.send(prove(world, early));
    await pass(world, 1n);
    await world.chain.send(prove(world, job));
    await pass(world, 1n);
    await expectRefusal(world, 'DeadlinePassed', prove(world, other));
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

  it('refuses an instruction that is missing or not of the ed25519 program', async () => {
    const job = await jobIn(world, 'processing');
    const [verification, instruction] = prove(world, job, {}, 1);
    const transfer = SystemProgram.transfer({
      fromPubkey: world.chain.payer.publicKey,
      toPubkey: world.stranger.publicKey,
      lamports: 1,
    });
    await expectRefusal(world, 'ProofMissing', [verification, instruction]);
    await expectRefusal(world, 'ProofMissing', [verification, transfer, instruction]);
    await expectRefusal(world, 'ProofMissing', prove(world, job, {}, 65_535));
  });

  it('refuses another key, and a message that differs from this proof [charging.deducted-at-settlement]', async () => {
    const job = await jobIn(world, 'processing');
    await expectRefusal(world, 'ProofWrongKey', prove(world, job, { key: Keypair.generate() }));
    await expectRefusal(world, 'ProofWrongMessage', prove(world, job, { attempt: 2 }));
    const [verification, instruction] = prove(world, job);
    const message = verification.data.subarray(MESSAGE_AT);
    for (const at of message.keys()) {
      const changed = signed(flipped(message, at));
      await expectRefusal(world, 'ProofWrongMessage', [changed, instruction]);
    }
  });

  it('refuses any other form of the ed25519 instruction', async () => {
    const job = await jobIn(world, 'processing');
    const [verification, instruction] = prove(world, job);
    const longer = withData(verification, Buffer.concat([verification.data, Buffer.alloc(1)]));
    await expectRefusal(world, 'ProofMalformed', [longer, instruction]);
    // The precompile refuses most before the program does: parity.test.ts shows that both would.
    const shorter = verification.data.subarray(0, -1);
    const headers = Array.from({ length: HEADER_BYTES }, (_, at) => flipped(verification.data, at));
    for (const data of [shorter, ...headers]) {
      const sent = world.chain.send([withData(verification, data), instruction]);
      await expect(sent).rejects.toThrow(/^(ProofMalformed|.* custom program error: 0x[0-4])$/);
    }
  });

  it('refuses another worker’s proof, and the same key’s for another worker', async () => {
    const { chain, hotSigner, proofKey } = world;
    const twin = await addWorker(world);
    workers.push(twin.address);
    const { payout, authority } = twin;
    const described = { payout, proofKey: proofKey.publicKey, endpoint: 'https://b.example' };
    const share = workerUpdate({ authority: authority.publicKey, ...described });
    await chain.send([share], [authority]);
    const job = await jobIn(world, 'processing');
    const [ofTwin, named] = prove(world, job, { worker: twin.address });
    await expectRefusal(world, 'WrongAddress', [ofTwin, named]);
    const [, ofJobsWorker] = prove(world, job);
    await expectRefusal(world, 'ProofWrongMessage', [ofTwin, ofJobsWorker]);
    const again = acknowledge(world, job, { worker: twin.address, attempt: 2 });
    await chain.send([again], [hotSigner]);
    const [ofFirst] = prove(world, job, { attempt: 2 });
    const [, ofSecond] = prove(world, job, { worker: twin.address, attempt: 2 });
    await expectRefusal(world, 'ProofWrongMessage', [ofFirst, ofSecond]);
    await chain.send(prove(world, job, { worker: twin.address, attempt: 2 }));
  });

  it('refuses the proof of another job and of an earlier attempt', async () => {
    const job = await jobIn(world, 'processing');
    const other = await jobIn(world, 'processing');
    const [verification] = prove(world, other);
    const [, instruction] = prove(world, job);
    await expectRefusal(world, 'ProofWrongMessage', [verification, instruction]);
    await world.chain.send([acknowledge(world, job, { attempt: 2 })], [world.hotSigner]);
    await expectRefusal(world, 'ProofWrongMessage', prove(world, job));
    await world.chain.send(prove(world, job, { attempt: 2 }));
  });
});
