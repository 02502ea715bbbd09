import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Keypair, PublicKey } from '@solana/web3.js';
import {
  parseProof,
  parseReceiptMessage,
  proofMessage,
  receiptMessage,
  sign,
  signHashed,
  signHashedBy,
  verifyHashed,
  workerRequestMessage,
} from '../../programs/client/proof.ts';
import { createRandom } from '../../testing/random.ts';

const random = createRandom();
const key = () => new PublicKey(random.bytes(32));
const keypair = Keypair.fromSeed(random.bytes(32));
const [programId, job, worker] = [key(), key(), key()];
const outputHash = random.bytes(32);
const statement = random.bytes(32);
const proof = {
  programId,
  job,
  worker,
  outputHash,
  attempt: 3,
  promptTokens: 0x01020304,
  completionTokens: 0xfffffffe,
  statement,
};

describe(`signed messages (seed ${random.seed})`, () => {
  it('lay out a proof in 181 bytes', () => {
    expect(Buffer.from(proofMessage(proof))).toEqual(
      Buffer.concat([
        Buffer.from('svc-proof-v2', 'ascii'),
        programId.toBuffer(),
        job.toBuffer(),
        worker.toBuffer(),
        Buffer.from([3]),
        outputHash,
        Buffer.from([4, 3, 2, 1]),
        Buffer.from([0xfe, 0xff, 0xff, 0xff]),
        statement,
      ]),
    );
    expect(proofMessage(proof)).toHaveLength(181);
  });

  it('lay out a delivery receipt in 143 bytes', () => {
    const message = receiptMessage({ programId, job, outputHash, statement });
    expect(message).toHaveLength(143);
    expect(Buffer.from(message)).toEqual(
      Buffer.concat([
        Buffer.from('svc-delivery-v2', 'ascii'),
        programId.toBuffer(),
        job.toBuffer(),
        outputHash,
        statement,
      ]),
    );
  });

  it('lay out requests to a worker differently by kind', () => {
    const request = { worker, job, attempt: 1, timestampMs: 1_800_000_000_123 };
    const parts = [
      worker.toBuffer(),
      job.toBuffer(),
      Buffer.from([1]),
      Buffer.from('7b505c18a3010000', 'hex'),
      outputHash,
    ];
    for (const kind of ['job', 'stop'] as const) {
      const message = workerRequestMessage({ ...request, kind, bodySha256: outputHash });
      const prefix = Buffer.from(`svc-${kind}-v1`, 'ascii');
      expect(Buffer.from(message)).toEqual(Buffer.concat([prefix, ...parts]));
    }
  });

  it('refuse a hash of another length, and numbers out of range', () => {
    const short = random.bytes(31);
    expect(() => proofMessage({ ...proof, outputHash: short })).toThrow('32 bytes');
    expect(() => proofMessage({ ...proof, statement: short })).toThrow('32 bytes');
    expect(() => receiptMessage({ programId, job, outputHash: short, statement })).toThrow(
      '32 bytes',
    );
    expect(() => proofMessage({ ...proof, attempt: 256 })).toThrow('out of range');
    expect(() => proofMessage({ ...proof, promptTokens: 2 ** 32 })).toThrow('out of range');
    expect(() => proofMessage({ ...proof, completionTokens: -1 })).toThrow('out of range');
  });

  it('are read again', () => {
    const message = proofMessage(proof);
    const { attempt: _, programId: _id, job: _job, worker: _worker, ...output } = proof;
    expect(parseProof(message)).toEqual({ subject: message.subarray(0, 109), ...output });
    // Of a proof about the same attempt only the output may differ.
    const other = proofMessage({ ...proof, outputHash: random.bytes(32) });
    expect(parseProof(other)?.subject).toEqual(message.subarray(0, 109));
    const receipt = receiptMessage({ programId, job, outputHash, statement });
    const subject = receipt.subarray(0, 79);
    expect(parseReceiptMessage(receipt)).toEqual({ subject, outputHash, statement });
  });

  it('are not read from bytes of another form', () => {
    for (const [message, parse] of [
      [proofMessage(proof), parseProof],
      [receiptMessage({ programId, job, outputHash, statement }), parseReceiptMessage],
    ] as const) {
      for (const other of [
        message.subarray(0, -1),
        Uint8Array.of(...message, 0),
        message.with(0, 0),
        message.with(11, 0),
        new Uint8Array(message.length),
        new Uint8Array(),
      ]) {
        expect(parse(other)).toBeUndefined();
      }
    }
    expect(parseProof(receiptMessage({ programId, job, outputHash, statement }))).toBeUndefined();
    expect(parseReceiptMessage(proofMessage(proof))).toBeUndefined();
  });
});

describe.each([
  ['proof', proofMessage(proof)],
  ['delivery receipt', receiptMessage({ programId, job, outputHash, statement })],
])('a %s', (_what, message) => {
  const { publicKey } = keypair;
  const signature = signHashed(message, keypair);

  it('is signed by its sha256', async () => {
    const digest = createHash('sha256').update(message).digest();
    expect(signature).toEqual(sign(digest, keypair));
    expect(await signHashedBy(message, keypair)).toEqual(signature);
    const signMessage = async (text: Uint8Array) => sign(text, keypair);
    expect(await signHashedBy(message, { publicKey, signMessage })).toEqual(signature);
    expect(verifyHashed({ publicKey, message, signature })).toBe(true);
  });
});
