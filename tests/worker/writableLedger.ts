import anchor from '@coral-xyz/anchor';
import { PublicKey } from '@solana/web3.js';
import type { AccountName } from '../../programs/client/accounts.ts';
import { ACCOUNT_VERSION } from '../../programs/client/accounts.ts';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import { IDL, wordsOf } from '../../programs/client/codec.ts';
import type { FieldType } from '../../programs/client/interface.ts';
import { coder, toCoder } from '../../testing/ledger/anchorCoder.ts';
import { startLedger, writeAccount } from '../../testing/ledger/ledger.ts';

const LAMPORTS = 10_000_000;

/** The local ledger with accounts that tests write as they need them. */
export async function startWritableLedger() {
  const { connection, rpc, close } = await startLedger();

  /** Gives an account any bytes. */
  async function writeBytes(
    address: PublicKey,
    bytes: Uint8Array,
    owner = PROGRAM_ID,
  ): Promise<void> {
    await writeAccount(connection.rpcEndpoint, address, { lamports: LAMPORTS, data: bytes, owner });
  }

  return {
    ...{ connection, rpc },
    close,
    writeBytes,
    /** Writes an account of the program; fields are named as in the IDL, those not given are zero. */
    async write(
      address: PublicKey,
      name: AccountName,
      fields: Record<string, unknown>,
      owner?: PublicKey,
    ): Promise<void> {
      const all = asVariants(name, { ...zeroFields(name), version: ACCOUNT_VERSION, ...fields });
      await writeBytes(address, await coder.accounts.encode(name, all), owner);
    },
  };
}

/** The text fields of accounts: bytes padded with zeros. */
export function paddedText(text: string, size: number): number[] {
  return [...Buffer.alloc(size).fill(text, 0, text.length)];
}

/** An array of keys padded with zero keys. */
export function paddedKeys(keys: PublicKey[], size: number): PublicKey[] {
  return Array.from({ length: size }, (_, index) => keys[index] ?? PublicKey.default);
}

/** With each word of an enumeration as Anchor's coder takes it. */
function asVariants(name: AccountName, fields: Record<string, unknown>): Record<string, unknown> {
  const types = new Map(fieldsOf(name).map((field) => [field.name, field.type]));
  return Object.fromEntries(
    Object.entries(fields).map(([field, value]) => [
      field,
      typeof value === 'string' ? toCoder(value, types.get(field)) : value,
    ]),
  );
}

function zeroFields(name: AccountName): Record<string, unknown> {
  return Object.fromEntries(fieldsOf(name).map((field) => [field.name, zero(field.type)]));
}

function fieldsOf(name: AccountName): { name: string; type: FieldType }[] {
  const type = IDL.types?.find((declared) => declared.name === name)?.type;
  if (type?.kind !== 'struct') throw new Error(`The IDL has no struct ${name}`);
  return type.fields as { name: string; type: FieldType }[];
}

function zero(type: FieldType): unknown {
  if (typeof type === 'object' && 'defined' in type) return wordsOf(type.defined.name)[0];
  if (typeof type === 'object' && 'array' in type) {
    return Array.from({ length: type.array[1] }, () => zero(type.array[0]));
  }
  if (type === 'pubkey') return PublicKey.default;
  if (type === 'bool') return false;
  return type === 'u64' || type === 'i64' ? new anchor.BN(0) : 0;
}
