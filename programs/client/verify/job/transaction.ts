import type { PublicKey, VersionedTransactionResponse } from '@solana/web3.js';
import { decodeBase58 } from '../../base58.ts';
import { type DecodedEvent, decodeEvents } from '../../events.ts';
import type { Place } from '../check.ts';

export interface Instruction {
  readonly programId: string;
  readonly accounts: readonly string[];
  readonly data: Uint8Array;
}

export interface OuterInstruction extends Instruction {
  /** What it called, and what those called, in the order of execution. */
  readonly inner: readonly Instruction[];
}

/** An account's lamports or tokens (base units) around a transaction. */
export interface Change {
  readonly before: bigint;
  readonly after: bigint;
}

/** A successful transaction with everything that the ledger keeps of it. */
export interface LedgerTransaction extends Place {
  /** The bytes that were signed. */
  readonly message: Uint8Array;
  readonly signers: readonly PublicKey[];
  /** In the order of `signers`; the first one names the transaction. */
  readonly signatures: readonly Uint8Array[];
  readonly instructions: readonly OuterInstruction[];
  /** By address; of token accounts only in `tokens`. */
  readonly lamports: ReadonlyMap<string, Change>;
  readonly tokens: ReadonlyMap<string, Change>;
  readonly feeLamports: bigint;
  readonly events: readonly DecodedEvent[];
}

/**
 * Brings a node's answer into one form for all versions of transactions.
 *
 * @throws Error when the program emitted an event that this client cannot read
 */
export function readTransaction(
  signature: string,
  response: VersionedTransactionResponse,
  programId: PublicKey,
): LedgerTransaction {
  const { message, signatures } = response.transaction;
  const meta = response.meta;
  if (!meta) throw new Error('The ledger did not keep what this transaction did');
  const keys = message
    .getAccountKeys({ accountKeysFromLookups: meta.loadedAddresses ?? null })
    .keySegments()
    .flat();
  const addresses = keys.map(String);
  const address = (index: number) => addresses[index] ?? '';
  const inner = new Map(meta.innerInstructions?.map((item) => [item.index, item.instructions]));
  return {
    signature,
    slot: BigInt(response.slot),
    message: message.serialize(),
    signers: keys.slice(0, message.header.numRequiredSignatures),
    signatures: signatures.map((text) => decodeBase58(text)),
    instructions: message.compiledInstructions.map(
      ({ programIdIndex, accountKeyIndexes, data }, index) => ({
        programId: address(programIdIndex),
        accounts: accountKeyIndexes.map(address),
        data,
        inner: (inner.get(index) ?? []).map((called) => ({
          programId: address(called.programIdIndex),
          accounts: called.accounts.map(address),
          data: decodeBase58(called.data),
        })),
      }),
    ),
    lamports: new Map(
      addresses.map((key, index) => [
        key,
        {
          before: BigInt(meta.preBalances[index] ?? 0),
          after: BigInt(meta.postBalances[index] ?? 0),
        },
      ]),
    ),
    tokens: readTokens(meta, address),
    feeLamports: BigInt(meta.fee),
    events: decodeEvents(response, programId),
  };
}

/** A token account that a transaction opens or closes is listed on one side only. */
function readTokens(
  meta: NonNullable<VersionedTransactionResponse['meta']>,
  address: (index: number) => string,
): Map<string, Change> {
  const amounts = (side: typeof meta.preTokenBalances) =>
    new Map(side?.map((held) => [address(held.accountIndex), BigInt(held.uiTokenAmount.amount)]));
  const before = amounts(meta.preTokenBalances);
  const after = amounts(meta.postTokenBalances);
  return new Map(
    [...before.keys(), ...after.keys()].map((key) => [
      key,
      { before: before.get(key) ?? 0n, after: after.get(key) ?? 0n },
    ]),
  );
}
