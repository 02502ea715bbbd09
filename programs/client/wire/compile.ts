import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { nameOfBytes } from '../platform/bytes.ts';
import type { Message, MessageVersion, TableLookup, TransactionConfig } from './message.ts';

/** A lookup table, with its entries as the ledger has them. */
interface LookupTable {
  readonly key: PublicKey;
  readonly addresses: readonly PublicKey[];
}

/** A message, and who has to sign it, the fee payer first. */
export interface CompiledMessage extends Message {
  readonly signers: readonly PublicKey[];
}

interface Account {
  readonly key: PublicKey;
  isSigner: boolean;
  isWritable: boolean;
  isProgram: boolean;
}

/**
 * Orders the accounts of instructions as web3.js does. web3.js spells every key of every instruction
 * in base58 to tell them apart, which took a tenth of the API's time.
 *
 * @param options.blockhash its 32 bytes
 * @param options.table for version 0 alone
 * @param options.config for version 1 alone
 */
export function compileMessage(options: {
  version: MessageVersion;
  instructions: readonly TransactionInstruction[];
  feePayer: PublicKey;
  blockhash: Uint8Array;
  table?: LookupTable | undefined;
  config?: TransactionConfig;
}): CompiledMessage {
  const { version, instructions, feePayer, blockhash, table, config = {} } = options;
  const all = gather(instructions, feePayer);
  const loaded = version === 0 && table ? placesIn(table, all) : { writable: [], readonly: [] };
  const isLoaded = new Set([...loaded.writable, ...loaded.readonly].map(({ account }) => account));
  const own = all.filter((account) => !isLoaded.has(account));
  // Each group in the order of first use.
  const groups = [
    own.filter(({ isSigner, isWritable }) => isSigner && isWritable),
    own.filter(({ isSigner, isWritable }) => isSigner && !isWritable),
    own.filter(({ isSigner, isWritable }) => !isSigner && isWritable),
    own.filter(({ isSigner, isWritable }) => !isSigner && !isWritable),
  ] as const;
  const ordered = groups.flat();
  const signers = [...groups[0], ...groups[1]].map(({ key }) => key);
  const behind = [...loaded.writable, ...loaded.readonly].map(({ account }) => account);
  const places = new Map([...ordered, ...behind].map(({ key }, at) => [nameOfKey(key), at]));
  // Every key of the instructions was gathered above.
  const placeOf = (key: PublicKey): number => places.get(nameOfKey(key)) as number;
  return {
    version,
    header: {
      numRequiredSignatures: signers.length,
      numReadonlySignedAccounts: groups[1].length,
      numReadonlyUnsignedAccounts: groups[3].length,
    },
    keys: ordered.map(({ key }) => key.toBytes()),
    recentBlockhash: blockhash,
    instructions: instructions.map(({ programId, keys, data }) => ({
      programIdIndex: placeOf(programId),
      accounts: Uint8Array.from(keys, ({ pubkey }) => placeOf(pubkey)),
      data,
    })),
    lookups: behind.length > 0 && table ? [lookupOf(table, loaded)] : [],
    config,
    signers,
  };
}

function gather(
  instructions: readonly TransactionInstruction[],
  feePayer: PublicKey,
): readonly Account[] {
  const accounts = new Map<string, Account>();
  const note = (key: PublicKey, roles: Partial<Account>): void => {
    const name = nameOfKey(key);
    const known = accounts.get(name);
    if (!known) {
      const account = { key, isSigner: false, isWritable: false, isProgram: false };
      accounts.set(name, Object.assign(account, roles));
      return;
    }
    known.isSigner ||= roles.isSigner === true;
    known.isWritable ||= roles.isWritable === true;
    known.isProgram ||= roles.isProgram === true;
  };
  note(feePayer, { isSigner: true, isWritable: true });
  for (const { programId, keys } of instructions) {
    note(programId, { isProgram: true });
    for (const { pubkey, isSigner, isWritable } of keys) note(pubkey, { isSigner, isWritable });
  }
  return [...accounts.values()];
}

interface Place {
  readonly account: Account;
  /** In the table. */
  readonly at: number;
}

interface Places {
  readonly writable: readonly Place[];
  readonly readonly: readonly Place[];
}

/** What a table can load: neither signers nor programs, which a message names itself. */
function placesIn({ addresses }: LookupTable, accounts: readonly Account[]): Places {
  const places = new Map(addresses.map((key, at) => [nameOfKey(key), at]));
  const found = accounts.flatMap((account) => {
    const at = places.get(nameOfKey(account.key));
    return at === undefined || account.isSigner || account.isProgram ? [] : [{ account, at }];
  });
  return {
    writable: found.filter(({ account }) => account.isWritable),
    readonly: found.filter(({ account }) => !account.isWritable),
  };
}

function lookupOf({ key }: LookupTable, { writable, readonly }: Places): TableLookup {
  return {
    table: key.toBytes(),
    writableIndexes: Uint8Array.from(writable, ({ at }) => at),
    readonlyIndexes: Uint8Array.from(readonly, ({ at }) => at),
  };
}

const names = new WeakMap<PublicKey, string>();

/** A key's bytes as text, found once for each object. */
function nameOfKey(key: PublicKey): string {
  let name = names.get(key);
  if (name === undefined) {
    name = nameOfBytes(key.toBytes());
    names.set(key, name);
  }
  return name;
}
