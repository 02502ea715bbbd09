import { describe, expect, it } from '@jest/globals';
import { Ed25519Program, Keypair, PublicKey } from '@solana/web3.js';
import { ed25519Instruction } from '../../programs/client/instructions.ts';
import {
  formatReceipt,
  parseReceipt,
  proofMessage,
  receiptMessage,
  sign,
  verifySignature,
  workerRequestMessage,
} from '../../programs/client/proof.ts';
import { createRandom } from '../../testing/random.ts';

const random = createRandom();
const key = () => new PublicKey(random.bytes(32));
const keypair = Keypair.fromSeed(random.bytes(32));
const [programId, job, worker] = [key(), key(), key()];
const outputHash = random.bytes(32);
const proof = {
  programId,
  job,
  worker,
  outputHash,
  attempt: 3,
  promptTokens: 0x01020304,
  completionTokens: 0xfffffffe,
};

describe(`signed messages (seed ${random.seed})`, () => {
  it('lay out a proof in 149 bytes', () => {
    expect(Buffer.from(proofMessage(proof))).toEqual(
      Buffer.concat([
        Buffer.from('svc-proof-v1', 'ascii'),
        programId.toBuffer(),
        job.toBuffer(),
        worker.toBuffer(),
        Buffer.from([3]),
        outputHash,
        Buffer.from([4, 3, 2, 1]),
        Buffer.from([0xfe, 0xff, 0xff, 0xff]),
      ]),
    );
    expect(proofMessage(proof)).toHaveLength(149);
  });

  it('lay out a delivery receipt in 111 bytes', () => {
    const message = receiptMessage({ programId, job, outputHash });
    expect(message).toHaveLength(111);
    expect(Buffer.from(message)).toEqual(
      Buffer.concat([
        Buffer.from('svc-delivery-v1', 'ascii'),
        programId.toBuffer(),
        job.toBuffer(),
        outputHash,
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
    expect(() => proofMessage({ ...proof, outputHash: random.bytes(31) })).toThrow('32 bytes');
    expect(() => proofMessage({ ...proof, attempt: 256 })).toThrow('out of range');
    expect(() => proofMessage({ ...proof, promptTokens: 2 ** 32 })).toThrow('out of range');
    expect(() => proofMessage({ ...proof, completionTokens: -1 })).toThrow('out of range');
  });

  it('verify only with their own key, text and signature', () => {
    const message = proofMessage(proof);
    const signature = sign(message, keypair);
    const { publicKey } = keypair;
    expect(verifySignature({ publicKey, message, signature })).toBe(true);
    expect(verifySignature({ publicKey: key(), message, signature })).toBe(false);
    for (let round = 0; round < 20; round += 1) {
      const otherMessage = Uint8Array.from(message);
      flipBit(otherMessage);
      expect(verifySignature({ publicKey, message: otherMessage, signature })).toBe(false);
      const otherSignature = Uint8Array.from(signature);
      flipBit(otherSignature);
      expect(verifySignature({ publicKey, message, signature: otherSignature })).toBe(false);
    }
    expect(verifySignature({ publicKey, message, signature: random.bytes(63) })).toBe(false);
  });

  it('have the same signatures as in web3.js', () => {
    const message = random.bytes(100);
    const instruction = Ed25519Program.createInstructionWithPrivateKey({
      privateKey: keypair.secretKey,
      message,
    });
    const signature = sign(message, keypair);
    expect(ed25519Instruction({ publicKey: keypair.publicKey, message, signature })).toEqual(
      instruction,
    );
  });
});

describe('the precompile instruction', () => {
  it('has one signature, its parts at fixed offsets, and refers only to itself', () => {
    const message = proofMessage(proof);
    const signature = sign(message, keypair);
    const { data, keys } = ed25519Instruction({ publicKey: keypair.publicKey, message, signature });
    expect(keys).toEqual([]);
    expect([data[0], data[1]]).toEqual([1, 0]);
    const offsets = Array.from({ length: 7 }, (_, index) => data.readUInt16LE(2 + 2 * index));
    expect(offsets).toEqual([48, 0xffff, 16, 0xffff, 112, 149, 0xffff]);
    expect(data.subarray(16, 48)).toEqual(keypair.publicKey.toBuffer());
    expect(data.subarray(48, 112)).toEqual(Buffer.from(signature));
    expect(data.subarray(112)).toEqual(Buffer.from(message));
  });
});

describe('a delivery receipt', () => {
  const signature = sign(receiptMessage({ programId, job, outputHash }), keypair);
  const text = formatReceipt(keypair.publicKey, signature);

  it('is decoded as it was encoded', () => {
    expect(parseReceipt(text)).toEqual({ signer: keypair.publicKey, signature });
  });

  it('is not decoded from any other encoding', () => {
    const [signer, rest] = text.split('.') as [string, string];
    const others = ['', '.', signer, `${text}.`, `${text}=`, `${rest}.${signer}`, `1${text}`];
    for (const other of others) expect(parseReceipt(other)).toBeUndefined();
    expect(parseReceipt(`${signer}.${rest.slice(0, -2)}`)).toBeUndefined();
    expect(parseReceipt(`${signer}0.${rest}`)).toBeUndefined();
  });
});

function flipBit(bytes: Uint8Array): void {
  const at = random.below(bytes.length);
  bytes[at] = (bytes[at] as number) ^ (1 << random.below(8));
}
