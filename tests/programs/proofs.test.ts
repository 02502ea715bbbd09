import { beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair, type PublicKey, type TransactionInstruction } from '@solana/web3.js';
import {
  type EscrowErrorName,
  ed25519Instruction,
  PROGRAM_ID,
  proofMessage,
  sign,
} from '../../programs/client/index.ts';
import { expectRefusal } from './support/expectations.ts';
import { ANSWER, acknowledge, jobIn, prove, readJob, settle } from './support/jobs.ts';
import { withData } from './support/tampering.ts';
import { createWorld, hashOf, type World } from './support/world.ts';

/** The header is a count, a padding byte and seven words; the parts begin behind it. */
const HEADER_BYTES = 16;
const SIGNATURE_AT = 48;
const MESSAGE_AT = 112;
const OFFSET_WORDS = [0, 2, 4];
const MESSAGE_OFFSET_WORD = 4;

let world: World;
beforeAll(async () => {
  world = await createWorld();
});

/** A verification by the worker's key of the job's proof, or of another made from it. */
function verification(
  job: PublicKey,
  change: Partial<Parameters<typeof proofMessage>[0]> = {},
): TransactionInstruction {
  const message = proofMessage({
    ...{ programId: PROGRAM_ID, job, worker: world.worker, attempt: 1 },
    ...{ outputHash: ANSWER, promptTokens: 20, completionTokens: 300 },
    ...change,
  });
  const { proofKey } = world;
  return ed25519Instruction({
    publicKey: proofKey.publicKey,
    message,
    signature: sign(message, proofKey),
  });
}

/** The runtime refuses the transaction before any program sees it. */
const expectNotVerified = (instructions: TransactionInstruction[]): Promise<void> =>
  expect(world.chain.send(instructions)).rejects.toThrow(
    /Instruction 0: custom program error: 0x[0-4]\b/,
  );

const withWords = (data: Uint8Array, change: (word: number, at: number) => number): Buffer => {
  const changed = Buffer.from(data);
  for (let at = 0; at < 7; at += 1) {
    changed.writeUInt16LE(change(changed.readUInt16LE(2 + 2 * at), at), 2 + 2 * at);
  }
  return changed;
};

/** Other encodings of the same verification, all of which the precompile accepts. */
const layouts: Record<string, (data: Buffer) => Uint8Array> = {
  'every part named by the instruction’s own index': (data) =>
    withWords(data, (word) => (word === 0xffff ? 0 : word)),
  'the message alone named by it': (data) => withWords(data, (word, at) => (at === 6 ? 0 : word)),
  'another padding byte': (data) => Buffer.concat([Buffer.from([1, 1]), data.subarray(2)]),
  'bytes behind the message': (data) => Buffer.concat([data, Buffer.from([0])]),
  'a gap before the message': (data) => {
    const moved = withWords(data, (word, at) => word + (at === MESSAGE_OFFSET_WORD ? 1 : 0));
    const parts = [moved.subarray(0, MESSAGE_AT), Buffer.alloc(1), moved.subarray(MESSAGE_AT)];
    return Buffer.concat(parts);
  },
  'a second signature': (data) => {
    const added = HEADER_BYTES - 2;
    const moved = withWords(data, (word, at) => word + (OFFSET_WORDS.includes(at) ? added : 0));
    const words = moved.subarray(2, HEADER_BYTES);
    return Buffer.concat([Buffer.from([2, 0]), words, words, moved.subarray(HEADER_BYTES)]);
  },
  'no signature': () => Buffer.alloc(2),
};

describe('a proof on a ledger that verifies signatures', () => {
  it('is accepted once, and again without effect', async () => {
    const job = await jobIn(world, 'processing');
    await world.chain.send(prove(world, job));
    expect(world.chain.lastEvents().map(({ name }) => name)).toEqual(['JobProven']);
    await world.chain.send(prove(world, job));
    expect(world.chain.lastEvents()).toEqual([]);
    expect((await readJob(world, job)).status).toBe('settling');
  });

  it('is refused when its signature, key or message was changed or cut', async () => {
    const job = await jobIn(world, 'processing');
    const [valid, instruction] = prove(world, job);
    for (const at of [
      HEADER_BYTES,
      SIGNATURE_AT,
      SIGNATURE_AT + 63,
      MESSAGE_AT,
      MESSAGE_AT + 148,
    ]) {
      const forged = Buffer.from(valid.data);
      forged.writeUInt8(forged.readUInt8(at) ^ 1, at);
      await expectNotVerified([withData(valid, forged), instruction]);
    }
    for (const length of [0, 1, HEADER_BYTES, MESSAGE_AT, valid.data.length - 1]) {
      const cut = withData(valid, valid.data.subarray(0, length));
      await expectNotVerified([cut, instruction]);
    }
    expect((await readJob(world, job)).status).toBe('processing');
  });

  it('is refused when another key signed it', async () => {
    const job = await jobIn(world, 'processing');
    await expectRefusal(world, 'ProofWrongKey', prove(world, job, { key: Keypair.generate() }));
  });

  it('is refused when its message is not exactly this job’s proof', async () => {
    const job = await jobIn(world, 'processing');
    const [, instruction] = prove(world, job);
    const elsewhere = Keypair.generate().publicKey;
    for (const change of [
      { programId: elsewhere },
      { job: elsewhere },
      { worker: elsewhere },
      { attempt: 2 },
      { outputHash: hashOf('another answer') },
      { promptTokens: 21 },
      { completionTokens: 301 },
    ]) {
      const other = [verification(job, change), instruction];
      await expectRefusal(world, 'ProofWrongMessage', other);
    }
    expect((await readJob(world, job)).status).toBe('processing');
  });

  it.each(Object.keys(layouts))('is refused with %s', async (name) => {
    const job = await jobIn(world, 'processing');
    const [valid, instruction] = prove(world, job);
    const other = withData(valid, layouts[name]?.(Buffer.from(valid.data)) ?? valid.data);
    await expectRefusal(world, 'ProofMalformed', [other, instruction]);
  });

  it('is refused when the named instruction is not its ed25519 instruction', async () => {
    const job = await jobIn(world, 'processing');
    const another = verification(await jobIn(world, 'pending'));
    const refusals: [number, EscrowErrorName][] = [
      [1, 'ProofWrongMessage'],
      [2, 'ProofMissing'],
      [3, 'ProofMissing'],
      [9, 'ProofMissing'],
      [0xffff, 'ProofMissing'],
    ];
    for (const [index, refusal] of refusals) {
      const [valid, instruction] = prove(world, job, {}, index);
      await expectRefusal(world, refusal, [valid, another, instruction]);
    }
  });

  it('is valid only in its own transaction', async () => {
    const job = await jobIn(world, 'processing');
    const [valid, instruction] = prove(world, job);
    await world.chain.send([valid]);
    await expectRefusal(world, 'ProofMissing', instruction);
  });

  it('is of no use for another job or attempt, or after the settlement', async () => {
    const { chain, hotSigner } = world;
    const [proven, other] = [await jobIn(world, 'processing'), await jobIn(world, 'processing')];
    const [valid, instruction] = prove(world, proven);
    const [, foreign] = prove(world, other);
    await expectRefusal(world, 'ProofWrongMessage', [valid, foreign]);

    await chain.send([acknowledge(world, other, { attempt: 2 })], [hotSigner]);
    await expectRefusal(world, 'ProofWrongMessage', prove(world, other));

    await chain.send([valid, instruction, settle(world, proven)], [hotSigner]);
    await expectRefusal(world, 'WrongJobStatus', [valid, instruction]);
  });
});
