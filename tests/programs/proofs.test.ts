import { createHash } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  Ed25519Program,
  Keypair,
  type PublicKey,
  type TransactionInstruction,
} from '@solana/web3.js';
import {
  PROGRAM_ID,
  proofMessage,
  receiptMessage,
  sign,
  signHashed,
} from '../../programs/client/index.ts';
import { expectConserved } from './support/conservation.ts';
import { expectRefusal } from './support/expectations.ts';
import {
  ANSWER,
  acknowledge,
  complete,
  jobIn,
  type Proven,
  prove,
  REQUEST,
  readJob,
  settle,
} from './support/jobs.ts';
import { startTwins } from './support/twins.ts';
import { createWorld, send, type World } from './support/world.ts';

type Compose = (world: World, job: PublicKey, proven?: Proven) => TransactionInstruction;

/** The two instructions that take a worker's proof, and what they make of a job. */
const takers = [
  { name: 'job_prove', compose: prove as Compose, from: 'processing', to: 'settling' },
  { name: 'job_complete', compose: complete as Compose, from: 'pending', to: 'settled' },
] as const;

/** What a proof says besides its program, job, worker and attempt. */
const OUTPUT = {
  outputHash: ANSWER,
  promptTokens: 20,
  completionTokens: 300,
  statement: REQUEST,
};
// Which signatures the curve accepts: tests/programs/signatures.test.ts.
describe.each(takers)('a proof that $name takes, by both builds,', ({ compose, from, to }) => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld({}, await startTwins());
  });
  afterEach(() => expectConserved(world));

  const messageOf = (job: PublicKey) =>
    proofMessage({ programId: PROGRAM_ID, job, worker: world.worker, attempt: 1, ...OUTPUT });
  const take = (...instructions: TransactionInstruction[]) => send(world, ...instructions);
  const expectRefused = (...instructions: TransactionInstruction[]) =>
    expectRefusal(world, 'SignatureInvalid', instructions);
  /** No such signature changes anything about the job, which its own proof then changes. */
  const expectOnlyItsOwn = async (signaturesOf: (job: PublicKey) => Uint8Array[]) => {
    const job = await jobIn(world, from);
    const before = await readJob(world, job);
    for (const signature of signaturesOf(job))
      await expectRefused(compose(world, job, { signature }));
    expect(await readJob(world, job)).toEqual(before);
    await take(compose(world, job, { signature: signHashed(messageOf(job), world.proofKey) }));
    // A Job does not keep the commitment: the event has it.
    const { statement, ...recorded } = OUTPUT;
    expect(await readJob(world, job)).toMatchObject({ status: to, ...recorded });
  };

  it('is refused by any other key, and without a signature [charging.deducted-at-settlement]', async () => {
    const { wallet, hotSigner, workerAuthority, arbiter, authority } = world;
    const others = [wallet, hotSigner, workerAuthority, arbiter, authority, Keypair.generate()];
    await expectOnlyItsOwn((job) => [
      ...others.map((key) => signHashed(messageOf(job), key)),
      new Uint8Array(64),
      new Uint8Array(64).fill(255),
    ]);
  });

  // With any bit of its signature changed: tests/programs/signatures.test.ts.
  it('is refused if the message was signed, and not its sha256', async () => {
    await expectOnlyItsOwn((job) => [
      sign(messageOf(job), world.proofKey),
      signHashed(sha256(messageOf(job)), world.proofKey),
    ]);
  });

  // So the message is of no other job, worker, attempt, program, text or count.
  it('is refused with any byte changed, and in a receipt’s place', async () => {
    await expectOnlyItsOwn((job) => {
      const message = messageOf(job);
      const receipt = receiptMessage({
        ...{ programId: PROGRAM_ID, job, outputHash: ANSWER },
        statement: REQUEST,
      });
      return [...Array.from(message, (_, at) => flipped(message, at)), receipt].map((other) =>
        signHashed(other, world.proofKey),
      );
    });
  });

  it('is neither helped nor hindered by the ed25519 program beside it', async () => {
    const job = await jobIn(world, from);
    const forged = compose(world, job, { key: Keypair.generate() });
    const verified = (message: Uint8Array) =>
      Ed25519Program.createInstructionWithPrivateKey({
        privateKey: world.proofKey.secretKey,
        message,
      });
    for (const message of [messageOf(job), sha256(messageOf(job))]) {
      await expectRefused(verified(message), forged);
    }
    await take(verified(Buffer.from('anything')), compose(world, job));
    expect((await readJob(world, job)).status).toBe(to);
  });

  it('is of no use for another job, a later attempt, or a second time', async () => {
    const [used, other] = [await jobIn(world, from), await jobIn(world, 'processing')];
    const signature = signHashed(messageOf(used), world.proofKey);
    await expectRefused(compose(world, other, { signature }));
    await take(acknowledge(world, other, { attempt: 2 }));
    const first = signHashed(messageOf(other), world.proofKey);
    await expectRefused(compose(world, other, { attempt: 2, signature: first }));
    await take(compose(world, used, { signature }));
    if (to === 'settling') await take(settle(world, used));
    const again = compose(world, used, { signature });
    await expectRefusal(world, 'WrongJobStatus', again);
    await take(compose(world, other, { attempt: 2 }));
  });
});

const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest();

/** The same bytes but for one bit. */
function flipped(bytes: Uint8Array, at: number): Uint8Array {
  const changed = Uint8Array.from(bytes);
  changed[at] = (changed[at] as number) ^ 1;
  return changed;
}
