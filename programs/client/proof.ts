import { base64urlnopad } from '@scure/base';
import type { Keypair } from '@solana/web3.js';
import { PublicKey, sha256, sign, verifySignature } from '#platform';
import { PROOF_PREFIX, RECEIPT_PREFIX } from './generated/constants.ts';
import { toBase58, tryDecodeBase58 } from './keys.ts';
import { concatBytes, littleEndian, startsWithBytes, utf8, viewOf } from './platform/bytes.ts';

export { sign, verifySignature } from '#platform';

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

/** A proof or a receipt, and the signature of its sha256. */
export interface SignedMessage {
  readonly publicKey: PublicKey;
  /** As `proofMessage` or `receiptMessage` writes it. */
  readonly message: Uint8Array;
  /** Of the message's sha256, so that each costs the program the same. */
  readonly signature: Uint8Array;
}

/** Signs a proof or a receipt: the message's sha256. */
export function signHashed(message: Uint8Array, keypair: Keypair): Uint8Array {
  return sign(sha256(message), keypair);
}

/** The same by a key that may be kept elsewhere. @throws what the key's keeper throws */
export function signHashedBy(message: Uint8Array, holder: KeyHolder): Promise<Uint8Array> {
  return signBy(sha256(message), holder);
}

/** Whether the key signed this proof or receipt. */
export function verifyHashed({ publicKey, message, signature }: SignedMessage): boolean {
  return verifySignature({ publicKey, message: sha256(message), signature });
}

/** What a proof states of an answer. */
export interface ProvenOutput {
  /** sha256 over the whole answer's UTF-8 text */
  readonly outputHash: Uint8Array;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Binds question and answer, as `statementOf` makes it (32 bytes). */
  readonly statement: Uint8Array;
}

/**
 * What a worker proves about one attempt at a job (181 bytes), signed by `signHashed`. Two different
 * proofs of one job and attempt convict the worker.
 *
 * @param proof.worker the Worker account, not its authority
 */
export function proofMessage(
  proof: ProvenOutput & {
    programId: PublicKey;
    job: PublicKey;
    worker: PublicKey;
    attempt: number;
  },
): Uint8Array {
  return concatBytes(
    utf8(PROOF_PREFIX),
    proof.programId.toBytes(),
    proof.job.toBytes(),
    proof.worker.toBytes(),
    unsigned(proof.attempt, 1),
    hash(proof.outputHash),
    unsigned(proof.promptTokens, 4),
    unsigned(proof.completionTokens, 4),
    hash(proof.statement),
  );
}

/** Where a proof's output begins: after prefix, program, job, worker and attempt. */
const OUTPUT_AT = 12 + 3 * 32 + 1;
const PROOF_BYTES = OUTPUT_AT + HASH_BYTES + 2 * 4 + HASH_BYTES;

/**
 * What a message states that has a proof's form.
 *
 * @returns undefined for any other bytes; `subject` is everything before the output
 */
export function parseProof(
  message: Uint8Array,
): (ProvenOutput & { subject: Uint8Array }) | undefined {
  const isProof = message.length === PROOF_BYTES && startsWithBytes(message, utf8(PROOF_PREFIX));
  if (!isProof) return undefined;
  const view = viewOf(message);
  const countsAt = OUTPUT_AT + HASH_BYTES;
  return {
    subject: message.subarray(0, OUTPUT_AT),
    outputHash: message.subarray(OUTPUT_AT, countsAt),
    promptTokens: view.getUint32(countsAt, true),
    completionTokens: view.getUint32(countsAt + 4, true),
    statement: message.subarray(countsAt + 8),
  };
}

/**
 * What the settling key signs for the client (143 bytes), by `signHashed`: this text's hash and this
 * statement were delivered for this job. One that differs from the worker's proof convicts the gateway.
 */
export function receiptMessage(receipt: {
  programId: PublicKey;
  job: PublicKey;
  outputHash: Uint8Array;
  statement: Uint8Array;
}): Uint8Array {
  return concatBytes(
    utf8(RECEIPT_PREFIX),
    receipt.programId.toBytes(),
    receipt.job.toBytes(),
    hash(receipt.outputHash),
    hash(receipt.statement),
  );
}

const RECEIPT_HASH_AT = 15 + 2 * 32;
const RECEIPT_STATEMENT_AT = RECEIPT_HASH_AT + HASH_BYTES;
const RECEIPT_BYTES = RECEIPT_STATEMENT_AT + HASH_BYTES;

/** What a message states that has a receipt's form; undefined for any other bytes. */
export function parseReceiptMessage(
  message: Uint8Array,
): ({ subject: Uint8Array } & Pick<ProvenOutput, 'outputHash' | 'statement'>) | undefined {
  const isReceipt =
    message.length === RECEIPT_BYTES && startsWithBytes(message, utf8(RECEIPT_PREFIX));
  if (!isReceipt) return undefined;
  return {
    subject: message.subarray(0, RECEIPT_HASH_AT),
    outputHash: message.subarray(RECEIPT_HASH_AT, RECEIPT_STATEMENT_AT),
    statement: message.subarray(RECEIPT_STATEMENT_AT),
  };
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
  return littleEndian(BigInt(value), size);
}

/** What a request consists of: JSON, in which an undefined field is one that is not there. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [field: string]: Json | undefined };

const SALT_BYTES = 32;

/**
 * The half of a statement that the request gives (32 bytes): sha256 over the salt and the sha256 of
 * the canonical request. Without the salt a short question cannot be guessed.
 *
 * @param salt 32 random bytes, new for each job
 * @param request as `canonicalJson` takes it
 * @throws RangeError for another salt, and for what has no canonical form
 */
export function requestCommitment(salt: Uint8Array, request: Json): Uint8Array {
  if (salt.length !== SALT_BYTES) throw new RangeError(`A salt has ${SALT_BYTES} bytes`);
  return sha256(concatBytes(salt, sha256(utf8(canonicalJson(request)))));
}

/**
 * What a Model's `card_hash` pins (32 bytes): the sha256 of its card in the canonical form. The card
 * says which weights workers promise, and not what they run.
 *
 * @throws RangeError for what has no canonical form
 */
export function modelCardHash(card: Json): Uint8Array {
  return sha256(utf8(canonicalJson(card)));
}

/**
 * JSON in the one form that RFC 8785 gives it. It has no spaces, fields in the order of their UTF-16
 * units, and numbers and strings as ECMAScript writes them.
 *
 * @throws RangeError for what implementations read differently: whole numbers beyond 2^53, numbers
 *   without an end, halves of a character, and more than `LEVELS_MAX` levels
 */
export const canonicalJson = (value: Json): string => canonicalValue(value, LEVELS_MAX);

/** The most levels of lists and objects that every reader takes. */
export const LEVELS_MAX = 512;

function canonicalValue(value: Json, levels: number): string {
  if (typeof value === 'number') return canonicalNumber(value);
  if (typeof value === 'string') return canonicalString(value);
  if (value === null || typeof value !== 'object') return String(value);
  if (levels === 0) throw new RangeError(`It is nested deeper than ${LEVELS_MAX} levels`);
  const write = (held: Json) => canonicalValue(held, levels - 1);
  if (isList(value)) return `[${value.map(write).join(',')}]`;
  const fields = Object.keys(value).sort(byUnits);
  const parts = fields.flatMap((field) => {
    const held = value[field];
    return held === undefined ? [] : [`${canonicalString(field)}:${write(held)}`];
  });
  return `{${parts.join(',')}}`;
}

// Array.isArray does not narrow a readonly list.
const isList = (value: object): value is readonly Json[] => Array.isArray(value);

const byUnits = (one: string, other: string): number => (one < other ? -1 : 1);

function canonicalNumber(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError(`${value} is no number of JSON`);
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw new RangeError('A whole number is beyond 2^53');
  }
  // Negative zero is written as zero.
  return JSON.stringify(value);
}

/** In this mode whole pairs are other characters. */
const HALF = /\p{Surrogate}/u;

/** Whether a text has half of a surrogate pair, which no UTF-8 can carry. */
export const hasHalfCharacter = (text: string): boolean => HALF.test(text);

function canonicalString(text: string): string {
  if (hasHalfCharacter(text)) throw new RangeError('A text has half of a character');
  return JSON.stringify(text);
}
