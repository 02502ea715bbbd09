/** The versions of a message that this client reads and writes. */
export type MessageVersion = 'legacy' | 0 | 1;

/** How many keys sign, and how many of the signers and of the others are only read. */
export interface MessageHeader {
  readonly numRequiredSignatures: number;
  readonly numReadonlySignedAccounts: number;
  readonly numReadonlyUnsignedAccounts: number;
}

/** Indices refer to the message's keys, then to those that its lookup tables load. */
export interface CompiledInstruction {
  readonly programIdIndex: number;
  readonly accounts: Uint8Array;
  readonly data: Uint8Array;
}

export interface TableLookup {
  readonly table: Uint8Array;
  readonly writableIndexes: Uint8Array;
  readonly readonlyIndexes: Uint8Array;
}

/** What a message of version 1 asks for itself, where others have compute budget instructions. */
export interface TransactionConfig {
  /** In all, for any units that are used. */
  readonly priorityFeeLamports?: bigint;
  readonly computeUnitLimit?: number;
  readonly loadedAccountsDataSizeLimit?: number;
  readonly heapSize?: number;
}

/** What the signers of a transaction sign. Keys and blockhash are their 32 bytes. */
export interface Message {
  readonly version: MessageVersion;
  readonly header: MessageHeader;
  /** Writable signers, other signers, writable accounts, all others. */
  readonly keys: readonly Uint8Array[];
  readonly recentBlockhash: Uint8Array;
  readonly instructions: readonly CompiledInstruction[];
  /** Of version 0 alone. */
  readonly lookups: readonly TableLookup[];
  /** Of version 1 alone. */
  readonly config: TransactionConfig;
}

/** A transaction as the ledger's network carries it. All its bytes are views of `wire`. */
export interface DecodedTransaction extends Message {
  readonly wire: Uint8Array;
  readonly signatures: readonly Uint8Array[];
  /** The signed bytes. */
  readonly message: Uint8Array;
}

export const KEY_BYTES = 32;
export const SIGNATURE_BYTES = 64;
/** Set in the first byte of every message but a legacy one, whose first byte counts its signers. */
export const VERSION_FLAG = 0x80;
/** The highest that a message can state beside the flag: a node that is asked for it shows all versions. */
export const VERSION_MAX = VERSION_FLAG - 1;
/** What the ledger takes: a packet, or since version 1 (SIMD-0385) more than three. */
export const TRANSACTION_BYTES_MAX = { legacy: 1_232, 0: 1_232, 1: 4_096 } as const;

/** The fields of a config in the order of their bits, each bit standing for four bytes (SIMD-0385). */
export const CONFIG_FIELDS = [
  { name: 'priorityFeeLamports', mask: 0b11 },
  { name: 'computeUnitLimit', mask: 0b100 },
  { name: 'loadedAccountsDataSizeLimit', mask: 0b1000 },
  { name: 'heapSize', mask: 0b10000 },
] as const satisfies readonly { name: keyof TransactionConfig; mask: number }[];
