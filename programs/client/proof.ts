import {
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign as signWithKey,
  verify,
} from 'node:crypto';
import {
  Ed25519Program,
  type Keypair,
  PublicKey,
  type TransactionInstruction,
} from '@solana/web3.js';
import { lookUp, spellingOf } from './keyCache.ts';
import { tryDecodeBase58 } from './keys.ts';

const HASH_BYTES = 32;
const SEED_BYTES = 32;
const SIGNATURE_BYTES = 64;

/**
 * What a worker signs for one attempt at a job (149 bytes). Two different proofs of one job and
 * attempt convict the worker.
 *
 * @param proof.worker the Worker account, not its authority
 * @param proof.outputHash sha256 over the whole answer's UTF-8 text
 */
export function proofMessage(proof: {
  programId: PublicKey;
  job: PublicKey;
  worker: PublicKey;
  attempt: number;
  outputHash: Uint8Array;
  promptTokens: number;
  completionTokens: number;
}): Uint8Array {
  return Buffer.concat([
    Buffer.from('svc-proof-v1'),
    proof.programId.toBytes(),
    proof.job.toBytes(),
    proof.worker.toBytes(),
    unsigned(proof.attempt, 1),
    hash(proof.outputHash),
    unsigned(proof.promptTokens, 4),
    unsigned(proof.completionTokens, 4),
  ]);
}

/**
 * What the settling key signs for the client (111 bytes): this text's hash was delivered for this
 * job. A receipt that differs from the worker's proof convicts the gateway.
 */
export function receiptMessage(receipt: {
  programId: PublicKey;
  job: PublicKey;
  outputHash: Uint8Array;
}): Uint8Array {
  return Buffer.concat([
    Buffer.from('svc-delivery-v1'),
    receipt.programId.toBytes(),
    receipt.job.toBytes(),
    hash(receipt.outputHash),
  ]);
}

/**
 * What the controller's signer signs when it asks a worker to run or to stop a job.
 *
 * @param request.timestampMs Unix milliseconds; workers take it as stale after 30 s
 * @param request.bodySha256 sha256 over the raw request body
 */
export function workerRequestMessage(request: {
  kind: 'job' | 'stop';
  worker: PublicKey;
  job: PublicKey;
  attempt: number;
  timestampMs: number;
  bodySha256: Uint8Array;
}): Uint8Array {
  const timestamp = Buffer.alloc(8);
  timestamp.writeBigUInt64LE(BigInt(request.timestampMs));
  return Buffer.concat([
    Buffer.from(`svc-${request.kind}-v1`),
    request.worker.toBytes(),
    request.job.toBytes(),
    unsigned(request.attempt, 1),
    timestamp,
    hash(request.bodySha256),
  ]);
}

/**
 * The precompile's instruction that job_prove names by its index. The program demands exactly this
 * layout: one signature, every part inside this instruction (index 0xFFFF), key at 16, signature
 * at 48, message at 112.
 */
export function ed25519Instruction(proof: {
  publicKey: PublicKey;
  message: Uint8Array;
  signature: Uint8Array;
}): TransactionInstruction {
  const { publicKey, message, signature } = proof;
  return Ed25519Program.createInstructionWithPublicKey({
    publicKey: publicKey.toBytes(),
    message,
    signature,
  });
}

/** Reading a key takes OpenSSL longer than signing with it. */
const privateKeys = new WeakMap<Keypair, KeyObject>();

/** An ed25519 signature (64 bytes), by OpenSSL: seven times as fast as one in JavaScript. */
export function sign(message: Uint8Array, keypair: Keypair): Uint8Array {
  const key = lookUp(privateKeys, keypair, () => readPrivateKey(keypair));
  return new Uint8Array(signWithKey(null, message, key));
}

function readPrivateKey({ publicKey, secretKey }: Keypair): KeyObject {
  const d = Buffer.from(secretKey.subarray(0, SEED_BYTES)).toString('base64url');
  return createPrivateKey({ format: 'jwk', key: { ...jwk(publicKey), d } });
}

/** Of workers in use, as `publicKeyOf` gives them: each signs proof after proof. */
const publicKeys = new WeakMap<PublicKey, KeyObject>();

function readPublicKey(publicKey: PublicKey): KeyObject {
  return lookUp(publicKeys, publicKey, () =>
    createPublicKey({ format: 'jwk', key: jwk(publicKey) }),
  );
}

/** Whether `publicKey` signed exactly `message`. A malformed signature is simply not one. */
export function verifySignature(signed: {
  publicKey: PublicKey;
  message: Uint8Array;
  signature: Uint8Array;
}): boolean {
  return verify(null, signed.message, readPublicKey(signed.publicKey), signed.signature);
}

/** The delivery receipt as it travels in `x-svc-delivery-receipt`. */
export function formatReceipt(signer: PublicKey, signature: Uint8Array): string {
  return `${spellingOf(signer)}.${Buffer.from(signature).toString('base64url')}`;
}

/** The parts of a receipt, or undefined when it is not spelled exactly as `formatReceipt` does. */
export function parseReceipt(
  text: string,
): { signer: PublicKey; signature: Uint8Array } | undefined {
  const [signerText = '', signatureText = ''] = text.split('.');
  const signerBytes = tryDecodeBase58(signerText);
  const signature = new Uint8Array(Buffer.from(signatureText, 'base64url'));
  if (signerBytes?.length !== 32 || signature.length !== SIGNATURE_BYTES) return undefined;
  const signer = new PublicKey(signerBytes);
  return formatReceipt(signer, signature) === text ? { signer, signature } : undefined;
}

function jwk(publicKey: PublicKey): { kty: string; crv: string; x: string } {
  return { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(publicKey.toBytes()).toString('base64url') };
}

function hash(bytes: Uint8Array): Uint8Array {
  if (bytes.length !== HASH_BYTES)
    throw new RangeError(`A sha256 has 32 bytes, not ${bytes.length}`);
  return bytes;
}

/** Little-endian; Node refuses a value that does not fit. */
function unsigned(value: number, size: number): Uint8Array {
  const bytes = Buffer.alloc(size);
  bytes.writeUIntLE(value, 0, size);
  return bytes;
}
