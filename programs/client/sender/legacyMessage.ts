import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { concatBytes } from '../platform/bytes.ts';

/** A message of the legacy kind, ready to be signed. */
export interface CompiledMessage {
  readonly bytes: Uint8Array;
  /** Who has to sign it, the fee payer first. */
  readonly signers: readonly PublicKey[];
}

interface Account {
  readonly key: PublicKey;
  isSigner: boolean;
  isWritable: boolean;
}

/**
 * Compiles a message as web3.js does, byte for byte. web3.js spells every key of every instruction in
 * base58 to tell them apart, which took a tenth of the API's time.
 *
 * @param blockhash its 32 bytes
 */
export function compileLegacyMessage(options: {
  instructions: readonly TransactionInstruction[];
  feePayer: PublicKey;
  blockhash: Uint8Array;
}): CompiledMessage {
  const { instructions, feePayer, blockhash } = options;
  const accounts = gather(instructions, feePayer);
  // Writable signers, other signers, writable accounts, all others; each in the order of first use.
  const groups = [
    accounts.filter(({ isSigner, isWritable }) => isSigner && isWritable),
    accounts.filter(({ isSigner, isWritable }) => isSigner && !isWritable),
    accounts.filter(({ isSigner, isWritable }) => !isSigner && isWritable),
    accounts.filter(({ isSigner, isWritable }) => !isSigner && !isWritable),
  ] as const;
  const ordered = groups.flat();
  const places = new Map(ordered.map(({ key }, place) => [nameOf(key), place]));
  const placeOf = (key: PublicKey): number => places.get(nameOf(key)) ?? 0;
  const signers = [...groups[0], ...groups[1]].map(({ key }) => key);
  const parts = [
    Uint8Array.of(signers.length, groups[1].length, groups[3].length),
    lengthOf(ordered.length),
    ...ordered.map(({ key }) => key.toBytes()),
    blockhash,
    lengthOf(instructions.length),
    ...instructions.flatMap(({ programId, keys, data }) => [
      Uint8Array.of(placeOf(programId)),
      lengthOf(keys.length),
      Uint8Array.from(keys, ({ pubkey }) => placeOf(pubkey)),
      lengthOf(data.length),
      data,
    ]),
  ];
  return { bytes: concatBytes(...parts), signers };
}

function gather(
  instructions: readonly TransactionInstruction[],
  feePayer: PublicKey,
): readonly Account[] {
  const accounts = new Map<string, Account>();
  const note = (key: PublicKey, isSigner: boolean, isWritable: boolean): void => {
    const known = accounts.get(nameOf(key));
    if (known) {
      known.isSigner ||= isSigner;
      known.isWritable ||= isWritable;
    } else accounts.set(nameOf(key), { key, isSigner, isWritable });
  };
  note(feePayer, true, true);
  for (const { programId, keys } of instructions) {
    note(programId, false, false);
    for (const { pubkey, isSigner, isWritable } of keys) note(pubkey, isSigner, isWritable);
  }
  return [...accounts.values()];
}

const names = new WeakMap<PublicKey, string>();

/** A key's bytes as text, found once for each object. */
function nameOf(key: PublicKey): string {
  let name = names.get(key);
  if (name === undefined) {
    name = String.fromCharCode(...key.toBytes());
    names.set(key, name);
  }
  return name;
}

/** Seven bits a byte, lowest first. */
function lengthOf(count: number): Uint8Array {
  return count < 0x80 ? Uint8Array.of(count) : Uint8Array.of((count & 0x7f) | 0x80, count >> 7);
}
