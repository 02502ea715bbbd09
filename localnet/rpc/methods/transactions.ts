import { base58 } from '@scure/base';
import { z } from 'zod';
import { tryDecodeBase58 } from '../../../programs/client/keys.ts';
import {
  type DecodedTransaction,
  decodeTransaction,
  MalformedTransactionError,
} from '../../../programs/client/wire/index.ts';
import type { Refused } from '../../bank/execute.ts';
import { innerInstructionsOf, returnDataOf } from '../../bank/meta.ts';
import { hexOf } from '../../runtime/runtime.ts';
import { describeError } from '../../runtime/transactionError.ts';
import { decodeBase64 } from '../../wire/text.ts';
import { encodeAccount } from '../encode/account.ts';
import { encodeConfirmed } from '../encode/transaction.ts';
import {
  contextOf,
  invalidParams,
  method,
  preflightFailed,
  type RpcContext,
  signatureFailed,
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
    commitment: optional(z.enum(['confirmed', 'finalized'])),
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
    const submission = await context.bank.submit(transaction, isPreflighted);
    if ('execution' in submission) refuse(submission, isPreflighted);
    return base58.encode(transaction.signatures[0] as Uint8Array);
  }),

  simulateTransaction: method(
    { transaction: z.string(), config: simulating },
    (context, { transaction: text, config }) => {
      const { slot } = contextOf(context, config);
      if (config.sigVerify && config.replaceRecentBlockhash) {
        throw invalidParams('sigVerify may not be used with replaceRecentBlockhash');
      }
      const given = decodeWire(text, config.encoding);
      const replaced = config.replaceRecentBlockhash ? renew(context, given) : undefined;
      return withContext(slot, simulate(context, replaced?.transaction ?? given, config, replaced));
    },
  ),

  getTransaction: method({ signature, config: transactionReading }, (context, given) => {
    const { slot } = contextOf(context, { commitment: given.config.commitment });
    const stored = context.bank.store.transaction(given.signature);
    if (!stored || stored.slot > slot) return null;
    return encodeConfirmed(stored, blockTimeOf(context, stored.slot), given.config);
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
    const { store } = context.bank;
    const { before, until, limit = LISTED_MAX } = given.config;
    const { slot } = contextOf(context, given.config);
    const newest = before && store.locate(before);
    // For an unknown signature a cluster lists nothing before it, and everything after it.
    if (before && !newest) return [];
    const rows = store.mentions({
      address: given.address,
      limit,
      slotMax: slot,
      before: newest?.position ?? Number.MAX_SAFE_INTEGER,
      after: (until && store.locate(until)?.position) ?? 0,
    });
    return rows.map((row) => ({
      blockTime: blockTimeOf(context, row.slot),
      confirmationStatus: row.slot <= context.bank.slot('finalized') ? 'finalized' : 'confirmed',
      err: row.error === null ? null : JSON.parse(row.error),
      memo: row.memo,
      signature: base58.encode(row.signature),
      slot: row.slot,
    }));
  }),

  requestAirdrop: method(
    { address, lamports: amount, config: reading },
    (context, { address: to, lamports }) => context.faucet.airdrop(to, BigInt(lamports)),
  ),
};

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
  const { err, logs, computeUnits, returnData } = execution;
  if (err === null) return;
  // A cluster would drop it silently; here the caller gets the error.
  if (err === 'SignatureFailure') throw signatureFailed();
  if (!isPreflighted) return;
  throw preflightFailed(describeError(err), {
    accounts: null,
    err,
    innerInstructions: null,
    logs,
    replacementBlockhash: null,
    returnData: returnData && returnDataOf(returnData),
    unitsConsumed: computeUnits,
  });
}

interface Renewed {
  readonly transaction: DecodedTransaction;
  readonly blockhash: string;
  readonly lastValidBlockHeight: number;
}

/** The same transaction with a recent blockhash, which its signatures do not cover. */
function renew({ bank }: RpcContext, transaction: DecodedTransaction): Renewed {
  const slot = bank.slot('confirmed');
  const wire = Uint8Array.from(transaction.wire);
  const offset = transaction.recentBlockhash.byteOffset - transaction.wire.byteOffset;
  wire.set(bank.blockhashes.at(slot), offset);
  return {
    transaction: decodeTransaction(wire),
    blockhash: bank.blockhashes.textAt(slot),
    lastValidBlockHeight: slot + bank.blockhashes.windowSlots,
  };
}

function simulate(
  { bank }: RpcContext,
  transaction: DecodedTransaction,
  config: z.output<typeof simulating>,
  renewed: Renewed | undefined,
): object {
  const { err, logs, innerInstructions, computeUnits, returnData, after } = bank.simulate(
    transaction,
    { verifiesSignatures: config.sigVerify === true },
  );
  const accounts = config.accounts?.addresses.map((one) =>
    encodeAccount(bank.runtime, after.get(hexOf(one)) ?? bank.account(one, 'processed'), {
      encoding: config.accounts?.encoding ?? 'base64',
      dataSlice: undefined,
    }),
  );
  return {
    accounts: accounts ?? null,
    err,
    innerInstructions: config.innerInstructions ? innerInstructionsOf(innerInstructions) : null,
    logs,
    replacementBlockhash: renewed
      ? { blockhash: renewed.blockhash, lastValidBlockHeight: renewed.lastValidBlockHeight }
      : null,
    returnData: returnData && returnDataOf(returnData),
    unitsConsumed: computeUnits,
  };
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
