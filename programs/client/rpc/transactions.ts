import {
  type AtSlot,
  atSlot,
  fieldsOf,
  listOf,
  numberOf,
  orNull,
  type RpcError,
  textOf,
} from './answers.ts';
import type { Rpc } from './rpc.ts';
import type { Commitment } from './state.ts';

/** The ledger's word for why a transaction failed, as a status, a receipt or a refusal states it. */
export type TransactionError = object | string;

/** Where a transaction stands. */
export interface SignatureStatus {
  readonly slot: number;
  readonly err: TransactionError | null;
  readonly confirmationStatus: Commitment | undefined;
}

export interface Blockhash {
  readonly blockhash: string;
  readonly lastValidBlockHeight: number;
}

/** A transaction as an address's list names it. */
interface ListedSignature {
  readonly signature: string;
  readonly slot: number;
  readonly err: TransactionError | null;
}

/** A node refused to pass on a transaction, having checked it. */
const PREFLIGHT_FAILURE = -32002;

/**
 * Passes a transaction on, once; whoever sends it repeats it.
 *
 * @param wire the signed transaction in base64
 * @param options.minContextSlot the state that checks it is of this slot or later
 * @returns its signature
 * @throws RpcError where the check fails, see `preflightErrorOf`
 */
export function sendTransaction(
  rpc: Rpc,
  wire: string,
  options:
    | { readonly skipPreflight: true }
    | { readonly preflightCommitment: Commitment; readonly minContextSlot: number },
): Promise<string> {
  return rpc.ask(
    'sendTransaction',
    [wire, { ...options, encoding: 'base64', maxRetries: 0 }],
    textOf,
  );
}

/** Why a node's check refused a transaction; undefined for any other refusal. */
export function preflightErrorOf({ code, data }: RpcError): TransactionError | undefined {
  if (code !== PREFLIGHT_FAILURE || typeof data !== 'object' || data === null) return undefined;
  return errorOf((data as { err?: unknown }).err) ?? undefined;
}

/** Up to 256 statuses in the order of the signatures; null for what was not seen. */
export function getSignatureStatuses(
  rpc: Rpc,
  signatures: readonly string[],
  options: { readonly searchTransactionHistory: boolean },
): Promise<AtSlot<(SignatureStatus | null)[]>> {
  const read = atSlot((value) => listOf(value, orNull(statusOf)));
  return rpc.ask('getSignatureStatuses', [signatures, options], read);
}

export function getLatestBlockhash(
  rpc: Rpc,
  options: { readonly commitment: Commitment },
): Promise<AtSlot<Blockhash>> {
  const read = atSlot((value) => {
    const { blockhash, lastValidBlockHeight } = fieldsOf(value);
    return {
      blockhash: textOf(blockhash),
      lastValidBlockHeight: numberOf(lastValidBlockHeight),
    };
  });
  return rpc.ask('getLatestBlockhash', [options], read);
}

/** Up to 1,000 transactions that name the address, newest first. */
export function getSignaturesForAddress(
  rpc: Rpc,
  address: string,
  options: {
    readonly commitment: Exclude<Commitment, 'processed'>;
    readonly limit?: number;
    readonly before?: string;
    readonly minContextSlot?: number;
  },
): Promise<ListedSignature[]> {
  const read = (result: unknown) =>
    listOf(result, (row) => {
      const { signature, slot, err } = fieldsOf(row);
      return { signature: textOf(signature), slot: numberOf(slot), err: errorOf(err) };
    });
  return rpc.ask('getSignaturesForAddress', [address, options], read);
}

/** A transaction in the node's own words, of any version up to the one given; null where unknown. */
export function getTransaction(
  rpc: Rpc,
  signature: string,
  options: {
    readonly commitment: Exclude<Commitment, 'processed'>;
    readonly maxSupportedTransactionVersion: number;
  },
): Promise<object | null> {
  return rpc.ask('getTransaction', [signature, { ...options, encoding: 'json' }], orNull(fieldsOf));
}

function statusOf(value: unknown): SignatureStatus {
  const { slot, err, confirmationStatus } = fieldsOf(value);
  return {
    slot: numberOf(slot),
    err: errorOf(err),
    confirmationStatus: (confirmationStatus ?? undefined) as Commitment | undefined,
  };
}

export function errorOf(err: unknown): TransactionError | null {
  if (err === null || err === undefined) return null;
  return typeof err === 'object' ? err : textOf(err);
}
