import anchor from '@coral-xyz/anchor';
import { type Connection, PublicKey } from '@solana/web3.js';
import type { AccountName } from '../../programs/client/accounts.ts';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import { coder } from '../../programs/client/anchorCoder.ts';
import { IDL } from '../../programs/client/codec.ts';
import type { Rpc } from '../../programs/client/rpc/rpc.ts';
import { startLedger, writeAccount } from '../../testing/ledger/ledger.ts';

/** The local ledger with accounts that tests write as they need them. */
export interface WritableLedger {
  connection: Connection;
  rpc: Rpc;
  /** Writes an account of the program; fields are named as in the IDL, those not given are zero. */
  write(
    address: PublicKey,
    name: AccountName,
    fields: Record<string, unknown>,
    owner?: PublicKey,
  ): Promise<void>;
  /** Gives an account any bytes. */
  writeBytes(address: PublicKey, bytes: Uint8Array, owner?: PublicKey): Promise<void>;
  close(): Promise<void>;
}

type FieldType = string | { array: [FieldType, number] };

const LAMPORTS = 10_000_000;

export async function startWritableLedger(): Promise<WritableLedger> {
  const { connection, rpc, close } = await startLedger();

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
    async write(address, name, fields, owner) {
      const all = { ...zeroFields(name), version: 1, ...fields };
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

function zeroFields(name: AccountName): Record<string, unknown> {
  const type = IDL.types?.find((declared) => declared.name === name)?.type;
  if (type?.kind !== 'struct') throw new Error(`The IDL has no struct ${name}`);
  const fields = type.fields as { name: string; type: FieldType }[];
  return Object.fromEntries(fields.map((field) => [field.name, zero(field.type)]));
}

function zero(type: FieldType): unknown {
  if (typeof type === 'object') {
    return Array.from({ length: type.array[1] }, () => zero(type.array[0]));
  }
  if (type === 'pubkey') return PublicKey.default;
  if (type === 'bool') return false;
  return type === 'u64' || type === 'i64' ? new anchor.BN(0) : 0;
}
