import { base64urlnopad } from '@scure/base';
import type { Keypair } from '@solana/web3.js';
import { sign } from '#crypto';
import { PublicKey } from '#publicKey';
import { PROOF_PREFIX, RECEIPT_PREFIX } from './generated/constants.ts';
import { toBase58, tryDecodeBase58 } from './keys.ts';
import { concatBytes, utf8, viewOf } from './platform/bytes.ts';

export { sign, verifySignature } from '#crypto';

/** Signs with a key that it does not show: a hardware security module, or a key service. */
export interface MessageSigner {
  readonly publicKey: PublicKey;
  /** @returns the ed25519 signature (64 bytes) of the message itself */
  signMessage(message: Uint8Array): Promise<Uint8Array>;
}

/** What signs for a process without a person: a key in memory, or one kept elsewhere. */
export type KeyHolder = Keypair | MessageSigner;

/** An ed25519 signature (64 bytes) by either. @throws what the key's keeper throws */
export async function signBy(message: Uint8Array, holder: KeyHolder): Promise<Uint8Array> {
  return 'secretKey' in holder ? sign(message, holder) : holder.signMessage(message);
}

const HASH_BYTES = 32;
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
  return concatBytes(
    utf8(PROOF_PREFIX),
    proof.programId.toBytes(),
    proof.job.toBytes(),
    proof.worker.toBytes(),
    unsigned(proof.attempt, 1),
    hash(proof.outputHash),
    unsigned(proof.promptTokens, 4),
    unsigned(proof.completionTokens, 4),
  );
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
  return concatBytes(
    utf8(RECEIPT_PREFIX),
    receipt.programId.toBytes(),
    receipt.job.toBytes(),
    hash(receipt.outputHash),
  );
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
  return concatBytes(
    utf8(`svc-${request.kind}-v1`),
    request.worker.toBytes(),
    request.job.toBytes(),
    unsigned(request.attempt, 1),
    unsigned(request.timestampMs, 8),
    hash(request.bodySha256),
  );
}

/** The precompile's index for "in this same instruction". */
const THIS_INSTRUCTION = 0xffff;
const KEY_AT = 16;
const SIGNATURE_AT = 48;
const MESSAGE_AT = 112;

/**
 * The data of the precompile's instruction that job_prove names by its index. The program demands
 * exactly this layout: one signature, every part inside this instruction (index 0xFFFF), key at 16,
 * signature at 48, message at 112.
 */
export function ed25519InstructionData(proof: {
  publicKey: PublicKey;
  message: Uint8Array;
  signature: Uint8Array;
}): Uint8Array {
  const { publicKey, message, signature } = proof;
  if (signature.length !== SIGNATURE_BYTES) {
    throw new RangeError(`A signature has 64 bytes, not ${signature.length}`);
  }
  const data = new Uint8Array(MESSAGE_AT + message.length);
  const view = viewOf(data);
  view.setUint8(0, 1);
  const header = [
    ...[SIGNATURE_AT, THIS_INSTRUCTION, KEY_AT, THIS_INSTRUCTION],
    ...[MESSAGE_AT, message.length, THIS_INSTRUCTION],
  ];
  for (const [index, value] of header.entries()) view.setUint16(2 + 2 * index, value, true);
  data.set(publicKey.toBytes(), KEY_AT);
  data.set(signature, SIGNATURE_AT);
  data.set(message, MESSAGE_AT);
  return data;
}

/** The delivery receipt as it travels in `x-svc-delivery-receipt`. */
export function formatReceipt(signer: PublicKey, signature: Uint8Array): string {
  return `${toBase58(signer)}.${base64urlnopad.encode(signature)}`;
}

/** The parts of a receipt, or undefined when it is not exactly in the form of `formatReceipt`. */
export function parseReceipt(
  text: string,
): { signer: PublicKey; signature: Uint8Array } | undefined {
  const [signerText = '', signatureText = ''] = text.split('.');
  const signerBytes = tryDecodeBase58(signerText);
  const signature = tryDecodeBase64url(signatureText);
  if (signerBytes?.length !== 32 || signature?.length !== SIGNATURE_BYTES) return undefined;
  const signer = new PublicKey(signerBytes);
  return formatReceipt(signer, signature) === text ? { signer, signature } : undefined;
}

function tryDecodeBase64url(text: string): Uint8Array | undefined {
  try {
    return base64urlnopad.decode(text);
  } catch {
    return undefined;
  }
}

function hash(bytes: Uint8Array): Uint8Array {
  if (bytes.length !== HASH_BYTES)
    throw new RangeError(`A sha256 has 32 bytes, not ${bytes.length}`);
  return bytes;
}

/** Little-endian. @throws RangeError for a value that does not fit */
function unsigned(value: number, size: 1 | 4 | 8): Uint8Array {
  if (!(value >= 0 && value < 2 ** (8 * size))) {
    throw new RangeError(`${value} is out of range for ${size} bytes`);
  }
  const bytes = new Uint8Array(8);
  viewOf(bytes).setBigUint64(0, BigInt(value), true);
  return bytes.subarray(0, size);
}
