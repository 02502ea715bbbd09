import { base58 } from '@scure/base';
import { areBytesEqual } from './bytes.ts';

const KEY_BYTES = 32;

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
