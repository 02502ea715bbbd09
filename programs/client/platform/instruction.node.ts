import { type AccountMeta, type PublicKey, TransactionInstruction } from '@solana/web3.js';

/** An instruction, as web3.js takes it. Browsers get `instruction.browser.ts` in its place. */
export function createInstruction(parts: {
  readonly programId: PublicKey;
  readonly keys: AccountMeta[];
  readonly data: Uint8Array;
}): TransactionInstruction {
  return new TransactionInstruction({ ...parts, data: Buffer.from(parts.data) });
}
