import { ed25519 } from '@noble/curves/ed25519.js';
import { sha256 as hash256, sha512 } from '@noble/hashes/sha2.js';
import { base58, base64 } from '@scure/base';
import type { Keypair, TransactionInstruction } from '@solana/web3.js';
import { areBytesEqual, concatBytes, hasSmallOrder, readLittleEndian } from './bytes.ts';
import type * as node from './node.ts';

/** All that `node.ts` has, in JavaScript and without web3.js, for browsers. */

const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
const { Point } = ed25519;
/** The order of the group that the base point generates. */
const ORDER = Point.Fn.ORDER;

export function sha256(bytes: Uint8Array): Uint8Array {
  return hash256(bytes);
}

export function randomBytes(size: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(size));
}

export function decodeBase64(text: string): Uint8Array {
  return base64.decode(text);
}

/** An ed25519 signature (64 bytes). */
export function sign(message: Uint8Array, keypair: Keypair): Uint8Array {
  return ed25519.sign(message, keypair.secretKey.subarray(0, KEY_BYTES));
}

/**
 * Whether `publicKey` signed exactly `message`, as OpenSSL decides it: the signature's first half
 * must be the very bytes of S·B − k·A. The library's own check multiplies both sides by eight, and
 * so takes forged signatures that OpenSSL refuses.
 */
export function verifySignature(signed: {
  publicKey: Pick<PublicKey, 'toBytes'>;
  message: Uint8Array;
  signature: Uint8Array;
}): boolean {
  const { message, signature } = signed;
  const key = signed.publicKey.toBytes();
  if (signature.length !== SIGNATURE_BYTES) return false;
  if (hasSmallOrder(key) || hasSmallOrder(signature)) return false;
  const r = signature.subarray(0, KEY_BYTES);
  const s = readLittleEndian(signature.subarray(KEY_BYTES));
  if (s >= ORDER) return false;
  const a = readPoint(key);
  if (a === undefined) return false;
  const k = readLittleEndian(sha512(concatBytes(r, key, message))) % ORDER;
  const expected = Point.BASE.multiplyUnsafe(s).subtract(a.multiplyUnsafe(k));
  return areBytesEqual(expected.toBytes(), r);
}

/** Undefined where the bytes are no point. */
function readPoint(bytes: Uint8Array): InstanceType<typeof Point> | undefined {
  try {
    return Point.fromBytes(bytes, true);
  } catch {
    return undefined;
  }
}

/**
 * What verification needs of web3.js's PublicKey, without web3.js. A key of either class equals one
 * of this class with the same bytes.
 */
export class PublicKey {
  /** 32 zero bytes: the system program, and the ledger's way to say that there is no key. */
  static readonly default = new PublicKey(new Uint8Array(KEY_BYTES));

  readonly #bytes: Uint8Array;
  #base58: string | undefined;

  /** @throws Error when these are not 32 bytes, or not their base58 */
  constructor(value: string | Uint8Array | readonly number[]) {
    this.#bytes = typeof value === 'string' ? base58.decode(value) : Uint8Array.from(value);
    if (this.#bytes.length !== KEY_BYTES) throw new Error('Invalid public key input');
  }

  toBytes(): Uint8Array {
    return this.#bytes.slice();
  }

  toBase58(): string {
    this.#base58 ??= base58.encode(this.#bytes);
    return this.#base58;
  }

  toString(): string {
    return this.toBase58();
  }

  toJSON(): string {
    return this.toBase58();
  }

  equals(other: { toBytes(): Uint8Array }): boolean {
    return areBytesEqual(this.#bytes, other.toBytes());
  }
}

/** The parts of an instruction, as `node.ts` makes one of them. */
export function createInstruction(
  parts: Parameters<typeof node.createInstruction>[0],
): TransactionInstruction {
  // Its data is a Buffer there, and its class has one more method, which this client never calls.
  return parts as TransactionInstruction;
}

// Fails to compile when Node's build exports more than this one.
({ sha256, randomBytes, decodeBase64, sign, verifySignature, createInstruction }) satisfies Omit<
  typeof node,
  'PublicKey'
>;
