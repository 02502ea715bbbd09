import { base58 } from '@scure/base';
import { decodeBase58, encodeBase58 } from '../../../programs/client/longBase58.ts';
import {
  type DecodedTransaction,
  decodeTransaction,
  isWritable,
} from '../../../programs/client/wire/index.ts';
import type { StoredTransaction } from '../../store/schema.ts';
import { addressText, exact, parseExact, Serialized } from '../../wire/text.ts';
import { versionUnsupported } from '../protocol/method.ts';
import type { TransactionEncoding } from '../protocol/parameters.ts';
import { parseInstruction } from './instruction.ts';

/** The form in which a transaction is returned. */
interface TransactionShape {
  readonly encoding?: TransactionEncoding | undefined;
  readonly maxSupportedTransactionVersion?: number | undefined;
}

/** A transaction with its `meta`, and with its version if the caller supports versions, as JSON. */
export function encodeTransaction(stored: StoredTransaction, shape: TransactionShape): string {
  const { encoding = 'json' } = shape;
  const decoded = decodeTransaction(stored.wire);
  const versionField = versionFieldOf(decoded, shape);
  if (encoding === 'jsonParsed') {
    const meta = parseExact(stored.meta) as KeptMeta;
    return `"meta":${JSON.stringify(parseMeta(meta, decoded))},"transaction":${JSON.stringify(
      parseTransaction(decoded, meta),
    )}${versionField}`;
  }
  return `"meta":${stored.meta},"transaction":${transactionText(decoded, encoding)}${versionField}`;
}

/**
 * The same with slot and time of its block, as getTransaction answers.
 *
 * @param place.transactionIndex its position in the block; undefined where the node does not say
 */
export function encodeConfirmed(
  stored: StoredTransaction,
  place: { readonly blockTime: number; readonly transactionIndex: number | undefined },
  shape: TransactionShape,
): Serialized {
  const head = JSON.stringify({ ...place, slot: stored.slot }).slice(0, -1);
  return new Serialized(`${head},${encodeTransaction(stored, shape)}}`);
}

/** A further field, if the caller supports versions. @throws RpcError for one that it does not */
function versionFieldOf(
  { version }: DecodedTransaction,
  { maxSupportedTransactionVersion: versionMax }: TransactionShape,
): string {
  if (version !== 'legacy' && (versionMax === undefined || version > versionMax)) {
    throw versionUnsupported(version);
  }
  return versionMax === undefined ? '' : `,"version":${JSON.stringify(version)}`;
}

/** Only its accounts and their balances. */
export function encodeAccountsOnly(stored: StoredTransaction, shape: TransactionShape): string {
  const decoded = decodeTransaction(stored.wire);
  const versionField = versionFieldOf(decoded, shape);
  const meta = parseExact(stored.meta) as KeptMeta;
  const { err, fee, status, loadedAddresses, ...balances } = meta;
  const { preBalances, postBalances, preTokenBalances, postTokenBalances } = balances;
  const text = JSON.stringify({
    meta: { err, fee, postBalances, postTokenBalances, preBalances, preTokenBalances, status },
    transaction: {
      accountKeys: parsedKeys(decoded, loadedAddresses),
      signatures: decoded.signatures.map((bytes) => base58.encode(bytes)),
    },
  });
  return `${text.slice(1, -1)}${versionField}`;
}

function transactionText(decoded: DecodedTransaction, encoding: TransactionEncoding): string {
  const { wire } = decoded;
  switch (encoding) {
    case 'base64':
      return `["${Buffer.from(wire).toString('base64')}","base64"]`;
    case 'base58':
      return `["${encodeBase58(wire)}","base58"]`;
    default:
      return JSON.stringify(plainTransaction(decoded));
  }
}

function plainTransaction(decoded: DecodedTransaction): object {
  const { header, keys, instructions, recentBlockhash, signatures } = decoded;
  return {
    message: {
      accountKeys: keys.map(addressText),
      ...versionFields(decoded),
      header,
      instructions: instructions.map(({ accounts, data, programIdIndex }) => ({
        accounts: [...accounts],
        data: encodeBase58(data),
        programIdIndex,
        stackHeight: 1,
      })),
      recentBlockhash: addressText(recentBlockhash),
    },
    signatures: signatures.map((bytes) => base58.encode(bytes)),
  };
}

/** What messages of one version alone have. */
function versionFields({ version, lookups, config }: DecodedTransaction): object {
  if (version === 0) return { addressTableLookups: lookups.map(plainLookup) };
  if (version !== 1) return {};
  const { priorityFeeLamports, computeUnitLimit, loadedAccountsDataSizeLimit, heapSize } = config;
  return {
    transactionConfig: {
      computeUnitLimit: computeUnitLimit ?? null,
      heapSize: heapSize ?? null,
      loadedAccountsDataSizeLimit: loadedAccountsDataSizeLimit ?? null,
      priorityFee: priorityFeeLamports === undefined ? null : exact(priorityFeeLamports),
    },
  };
}

function plainLookup(lookup: DecodedTransaction['lookups'][number]): object {
  return {
    accountKey: addressText(lookup.table),
    readonlyIndexes: [...lookup.readonlyIndexes],
    writableIndexes: [...lookup.writableIndexes],
  };
}

/** The fields of a stored `meta` that are read again. */
interface KeptMeta {
  readonly err: unknown;
  readonly fee: unknown;
  readonly status: unknown;
  readonly preBalances: unknown;
  readonly postBalances: unknown;
  readonly preTokenBalances: unknown;
  readonly postTokenBalances: unknown;
  readonly loadedAddresses: { readonly writable: string[]; readonly readonly: string[] };
  readonly innerInstructions: readonly {
    readonly index: number;
    readonly instructions: readonly {
      readonly programIdIndex: number;
      readonly accounts: number[];
      readonly data: string;
      readonly stackHeight: number;
    }[];
  }[];
}

interface ParsedKey {
  readonly pubkey: string;
  readonly signer: boolean;
  readonly source: 'transaction' | 'lookupTable';
  readonly writable: boolean;
}

function parsedKeys(
  decoded: DecodedTransaction,
  { writable, readonly }: KeptMeta['loadedAddresses'],
): ParsedKey[] {
  const texts = [...decoded.keys.map(addressText), ...writable, ...readonly];
  return texts.map((pubkey, index) => ({
    pubkey,
    signer: index < decoded.header.numRequiredSignatures,
    source: index < decoded.keys.length ? 'transaction' : 'lookupTable',
    writable: isWritable(decoded, index),
  }));
}

function parseTransaction(decoded: DecodedTransaction, meta: KeptMeta): object {
  const keys = parsedKeys(decoded, meta.loadedAddresses);
  const names = keys.map(({ pubkey }) => pubkey);
  return {
    message: {
      accountKeys: keys,
      ...versionFields(decoded),
      instructions: decoded.instructions.map((instruction) =>
        parseInstruction(instruction, names, 1),
      ),
      recentBlockhash: addressText(decoded.recentBlockhash),
    },
    signatures: decoded.signatures.map((bytes) => base58.encode(bytes)),
  };
}

function parseMeta(meta: KeptMeta, decoded: DecodedTransaction): object {
  const { loadedAddresses, innerInstructions, ...rest } = meta;
  const names = parsedKeys(decoded, loadedAddresses).map(({ pubkey }) => pubkey);
  return {
    ...rest,
    innerInstructions: innerInstructions.map(({ index, instructions }) => ({
      index,
      instructions: instructions.map(({ accounts, data, programIdIndex, stackHeight }) =>
        parseInstruction(
          { accounts: Uint8Array.from(accounts), data: decodeBase58(data), programIdIndex },
          names,
          stackHeight,
        ),
      ),
    })),
  };
}
