import { base58 } from '@scure/base';
import { z } from 'zod';
import { tryDecodeBase58 } from '../../../programs/client/keys.ts';
import { nameOfBytes } from '../../../programs/client/platform/bytes.ts';
import {
  type DecodedTransaction,
  decodeTransaction,
  MalformedTransactionError,
} from '../../../programs/client/wire/index.ts';
import type { Bank } from '../../bank/bank.ts';
import type { Refused } from '../../bank/execute.ts';
import { innerInstructionsOf, returnDataOf } from '../../bank/meta.ts';
import type { Execution } from '../../runtime/runtime.ts';
import { describeError } from '../../runtime/transactionError.ts';
import type { Mention } from '../../store/history.ts';
import { decodeBase64 } from '../../wire/text.ts';
import { encodeAccount } from '../encode/account.ts';
import { encodeConfirmed } from '../encode/transaction.ts';
import {
  contextOf,
  invalidParams,
  method,
  preflightFailed,
  type RpcContext,
  stateMethod,
  withContext,
} from '../protocol/method.ts';
import {
  address,
  amount,
  commitment,
  config as configuration,
  optional,
  reading,
  signature,
  signatureText,
  slot as slotParameter,
  storedCommitment,
  transactionReading,
} from '../protocol/parameters.ts';
import { blockTimeOf } from './blocks.ts';

/** The limit of clusters. */
const STATUSES_MAX = 256;
const LISTED_MAX = 1_000;
const SIMULATED_ACCOUNTS_MAX = 64;
/** 4,096 bytes have 5,594 characters in base58, and fewer in base64; decoding base58 is slow. */
const WIRE_CHARACTERS_MAX = 6_000;

const wireEncoding = optional(z.enum(['base58', 'base64']));
const sending = configuration(
  z.object({
    encoding: wireEncoding,
    skipPreflight: optional(z.boolean()),
    preflightCommitment: optional(commitment),
    commitment: optional(commitment),
    maxRetries: optional(z.int().nonnegative()),
    minContextSlot: optional(slotParameter),
  }),
);
const simulating = configuration(
  z.object({
    encoding: wireEncoding,
    commitment: optional(commitment),
    minContextSlot: optional(slotParameter),
    sigVerify: optional(z.boolean()),
    replaceRecentBlockhash: optional(z.boolean()),
    innerInstructions: optional(z.boolean()),
    accounts: optional(
      z.object({
        addresses: z.array(address).max(SIMULATED_ACCOUNTS_MAX),
        encoding: optional(z.enum(['base64', 'base64+zstd', 'jsonParsed'])),
      }),
    ),
  }),
);

const listing = configuration(
  z.object({
    before: optional(signature),
    until: optional(signature),
    limit: optional(z.int().min(1).max(LISTED_MAX)),
    commitment: optional(storedCommitment),
    minContextSlot: optional(slotParameter),
  }),
);

export const transactionMethods = {
  sendTransaction: method({ transaction: z.string(), config: sending }, async (context, given) => {
    const { config } = given;
    const transaction = decodeWire(given.transaction, config.encoding);
    const isPreflighted = config.skipPreflight !== true;
    if (isPreflighted) {
      const { preflightCommitment, minContextSlot } = config;
      contextOf(context, { commitment: preflightCommitment, minContextSlot });
    }
    const { bank } = context;
    const { faults } = bank.mood;
    if (faults) {
      if (isPreflighted) {
        refuse({ execution: bank.simulate(transaction, true) }, true);
      }
      for (const delayMs of faults.delaysMs()) bank.executeIn(delayMs, transaction);
    } else {
      const submission = await bank.submit(transaction, isPreflighted);
      if ('execution' in submission) refuse(submission, isPreflighted);
    }
    return base58.encode(transaction.signatures[0] as Uint8Array);
  }),

  simulateTransaction: stateMethod(
    { transaction: z.string(), config: simulating },
    (context, { transaction: text, config }) => {
      if (config.sigVerify && config.replaceRecentBlockhash) {
        throw invalidParams('sigVerify may not be used with replaceRecentBlockhash');
      }
      const given = decodeWire(text, config.encoding);
      const replaced = config.replaceRecentBlockhash ? renew(context, given) : undefined;
      const { bank } = context;
      const transaction = replaced?.transaction ?? given;
      const { after, ...execution } = bank.simulate(transaction, config.sigVerify === true);
      const { addresses, encoding = 'base64' } = config.accounts ?? {};
      const shape = { encoding, dataSlice: undefined } as const;
      const accounts = addresses?.map((one) => {
        const account = after.get(nameOfBytes(one)) ?? bank.account(one, 'processed');
        return encodeAccount(bank.runtime, account, shape);
      });
      const { innerInstructions: calls } = execution;
      const asked = {
        accounts: accounts ?? null,
        innerInstructions: config.innerInstructions ? innerInstructionsOf(calls) : null,
        replacementBlockhash: replaced?.replacementBlockhash ?? null,
      };
      return simulationOf(execution, asked);
    },
  ),

  getTransaction: method({ signature, config: transactionReading }, (context, given) => {
    const { slot } = contextOf(context, { commitment: given.config.commitment });
    const { store, mood } = context.bank;
    const stored = store.transaction(given.signature);
    if (!stored || stored.slot > slot) return null;
    const block = store.block(stored.slot);
    const blockTime = blockTimeOf(context, stored.slot, block);
    const { firstPosition = 0 } = block ?? {};
    const transactionIndex = mood.faults ? undefined : stored.position - firstPosition;
    return encodeConfirmed(stored, { blockTime, transactionIndex }, given.config);
  }),

  getSignatureStatuses: method(
    {
      signatures: z.array(signatureText).max(STATUSES_MAX),
      config: configuration(z.object({ searchTransactionHistory: optional(z.boolean()) })),
    },
    (context, { signatures }) => {
      const { slot } = contextOf(context, { commitment: 'processed' });
      return withContext(
        slot,
        signatures.map((text) => statusOf(context, text)),
      );
    },
  ),

  getSignaturesForAddress: method({ address, config: listing }, (context, given) => {
    const { bank } = context;
    const { slot: slotMax } = contextOf(context, given.config);
    return listMentions(bank, { ...given.config, address: given.address, slotMax }).map((row) => ({
      blockTime: blockTimeOf(context, row.slot, row),
      confirmationStatus: row.slot <= bank.slot('finalized') ? 'finalized' : 'confirmed',
      err: row.error === null ? null : JSON.parse(row.error),
      memo: row.memo,
      signature: base58.encode(row.signature),
      slot: row.slot,
      ...(!bank.mood.faults && { transactionIndex: row.transactionIndex }),
    }));
  }),

  requestAirdrop: method(
    { address, lamports: amount, config: reading },
    (context, { address: to, lamports }) => context.faucet.airdrop(to, BigInt(lamports)),
  ),
};

interface Listing extends z.output<typeof listing> {
  readonly address: Uint8Array;
  readonly slotMax: number;
}

/** Newest first, and within a slot in the order of the ledger, or of a mood. */
function listMentions({ store, mood }: Bank, query: Listing): Mention[] {
  const { before, until, limit = LISTED_MAX } = query;
  const newest = before && store.locate(before);
  // For an unknown signature a cluster lists nothing before it, and everything after it.
  if (before && !newest) return [];
  if (!mood.faults) {
    return store.mentions({
      ...query,
      limit,
      before: newest?.position ?? Number.MAX_SAFE_INTEGER,
      after: (until && store.locate(until)?.position) ?? 0,
    });
  }
  // Each reading has an order of its own, in which it also begins and ends.
  const slotMax = Math.min(query.slotMax, newest?.slot ?? query.slotMax);
  const whole = { ...query, slotMax, before: Number.MAX_SAFE_INTEGER, after: 0 };
  const rows = mood.faults.reorder(store.mentions({ ...whole, limit: limit + LISTED_MAX }));
  const placeOf = (signature: Uint8Array) =>
    rows.findIndex((row) => Buffer.compare(row.signature, signature) === 0);
  const end = until ? placeOf(until) : -1;
  return rows.slice(before ? placeOf(before) + 1 : 0, end < 0 ? undefined : end).slice(0, limit);
}

/** @throws CallError for malformed bytes */
function decodeWire(text: string, encoding: 'base58' | 'base64' = 'base58'): DecodedTransaction {
  if (text.length > WIRE_CHARACTERS_MAX) {
    throw invalidParams(`transaction: too large: ${text.length} characters, encoded`);
  }
  const wire = encoding === 'base58' ? tryDecodeBase58(text) : decodeBase64(text);
  if (!wire) throw invalidParams(`transaction: invalid ${encoding} encoding`);
  try {
    return decodeTransaction(wire);
  } catch (error) {
    if (!(error instanceof MalformedTransactionError)) throw error;
    throw invalidParams(`transaction: ${error.message}`);
  }
}

/** @throws CallError unless the caller skipped the preflight */
function refuse({ execution }: Refused, isPreflighted: boolean): void {
  const { err } = execution;
  if (err === null) return;
  // Without a preflight a cluster drops a wrong signature silently; here the caller gets the error.
  if (!isPreflighted && err !== 'SignatureFailure') return;
  throw preflightFailed(describeError(err), simulationOf(execution));
}

/** What a simulation answers. @param asked for what the caller has asked besides */
function simulationOf(execution: Execution, asked: object = {}): object {
  const { err, logs, computeUnits, returnData } = execution;
  return {
    accounts: null,
    err,
    innerInstructions: null,
    logs,
    replacementBlockhash: null,
    returnData: returnData && returnDataOf(returnData),
    unitsConsumed: computeUnits,
    ...asked,
  };
}

/** The same transaction with a recent blockhash, by which it is another: none of its signatures holds. */
function renew({ bank }: RpcContext, transaction: DecodedTransaction) {
  const slot = bank.slot('confirmed');
  const wire = Uint8Array.from(transaction.wire);
  const write = (bytes: Uint8Array, place: Uint8Array) =>
    wire.set(bytes, place.byteOffset - transaction.wire.byteOffset);
  write(bank.blockhashes.at(slot), transaction.recentBlockhash);
  for (const signature of transaction.signatures)
    write(new Uint8Array(signature.length), signature);
  const lastValidBlockHeight = bank.blockhashes.lastValidHeight(slot);
  const replacementBlockhash = { blockhash: bank.blockhashes.textAt(slot), lastValidBlockHeight };
  return { transaction: decodeTransaction(wire), replacementBlockhash };
}

function statusOf({ bank }: RpcContext, text: string): object | null {
  const recent = bank.recent(text);
  const found = recent ?? bank.store.locate(base58.decode(text));
  if (!found) return null;
  const { slot } = found;
  const err = found.error === null ? null : JSON.parse(found.error);
  const isFinal = slot <= bank.slot('finalized');
  const isConfirmed = slot <= bank.slot('confirmed');
  return {
    confirmationStatus: isFinal ? 'finalized' : isConfirmed ? 'confirmed' : 'processed',
    confirmations: isFinal ? null : bank.slot('processed') - slot,
    err,
    slot,
    status: err === null ? { Ok: null } : { Err: err },
  };
}
