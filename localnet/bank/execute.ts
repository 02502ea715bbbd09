import { type DecodedTransaction, isWritable } from '../../programs/client/wire/index.ts';
import type { Account, Execution, Runtime } from '../runtime/runtime.ts';
import type { TransactionError } from '../runtime/transactionError.ts';
import { budgetOf, feeOf } from './fees.ts';
import { loadAddresses, metaOf } from './meta.ts';
import { tokenBalances } from './tokenBalances.ts';

/** An account that changed. */
export interface Change {
  readonly address: Uint8Array;
  readonly before: Account | null;
  readonly after: Account | null;
}

/** A transaction in a block, successful or failed. */
interface Executed {
  readonly execution: Execution;
  /** All its accounts, those of lookup tables last. */
  readonly keys: readonly Uint8Array[];
  readonly changes: readonly Change[];
  /** Its `meta` in the form of clusters, as JSON. */
  readonly meta: string;
}

/** A transaction that was refused without effect: it is in no block and paid no fee. */
export interface Refused {
  readonly execution: Execution;
}

/** Errors of loading accounts, for which a cluster charges although it executes nothing. */
const CHARGED_UNEXECUTED = new Set([
  'ProgramAccountNotFound',
  'InvalidProgramForExecution',
  'MaxLoadedAccountsDataSizeExceeded',
]);

/** What is the matter with a payer that cannot pay the fee. */
const UNPAID = new Set<TransactionError>([
  'AccountNotFound',
  'InsufficientFundsForFee',
  'InvalidAccountForFee',
]);

/**
 * Runs a transaction and returns its changes.
 *
 * @param options.isPreflighted whether a failure has no effect. A cluster's node simulates first;
 *   here one run serves both purposes
 * @param options.takesUnpaid whether a block may hold a transaction whose payer cannot pay
 */
export function executeTransaction(
  runtime: Runtime,
  transaction: DecodedTransaction,
  options: { readonly isPreflighted: boolean; readonly takesUnpaid: boolean },
): Executed | Refused {
  const { isPreflighted, takesUnpaid } = options;
  const loaded = loadAddresses(runtime, transaction) ?? { writable: [], readonly: [] };
  const keys = [...transaction.keys, ...loaded.writable, ...loaded.readonly];
  const payer = keys[0] as Uint8Array;
  const before = takeSnapshot(runtime, transaction, keys);
  let fee = feeOf(transaction);
  let execution = runtime.execute(transaction.wire, transaction.version === 'legacy');
  if (execution.err !== null) {
    chargeUnexecuted(runtime, payer, { execution, fee });
    const hasPaid = runtime.lamports(payer) !== before.lamports[0];
    if (isPreflighted && hasPaid) runtime.setAccount(payer, before.writable.get(0) ?? null);
    if (isPreflighted || !(hasPaid || (takesUnpaid && isUnpaid(execution.err)))) {
      return { execution };
    }
    if (!hasPaid) {
      fee = 0n;
      // It did not run, and counts as if it had used all that it asked for.
      execution = { ...execution, logs: [], computeUnits: budgetOf(transaction).computeUnits };
    }
  }
  const after = takeSnapshot(runtime, transaction, keys);
  const meta = metaOf(execution, {
    fee,
    loaded,
    lamports: [before.lamports, after.lamports],
    tokens: [before.tokens, after.tokens],
  });
  return { execution, keys, changes: changesOf(keys, before, after), meta: JSON.stringify(meta) };
}

/** A payer that would keep less than its rent is unable, too. */
function isUnpaid(error: TransactionError): boolean {
  if (typeof error === 'string') return UNPAID.has(error);
  return 'InsufficientFundsForRent' in error && error.InsufficientFundsForRent.account_index === 0;
}

/** The accounts that it may change. */
export function writtenBy(runtime: Runtime, transaction: DecodedTransaction): Uint8Array[] {
  const loaded = loadAddresses(runtime, transaction)?.writable ?? [];
  return [...transaction.keys.filter((_, index) => isWritable(transaction, index)), ...loaded];
}

interface Snapshot {
  /** The accounts that the transaction may change, by index. */
  readonly writable: ReadonlyMap<number, Account | null>;
  readonly lamports: readonly bigint[];
  readonly tokens: ReturnType<typeof tokenBalances>;
}

/** Called programs are not read: their binaries are large and hold no tokens. */
function takeSnapshot(
  runtime: Runtime,
  transaction: DecodedTransaction,
  keys: readonly Uint8Array[],
): Snapshot {
  const called = new Set(transaction.instructions.map(({ programIdIndex }) => programIdIndex));
  const accounts = keys.map((address, index) =>
    called.has(index) ? undefined : runtime.account(address),
  );
  const read = accounts.flatMap((account, index) =>
    account === undefined ? [] : [[index, account] as const],
  );
  return {
    writable: new Map(read.filter(([index]) => isWritable(transaction, index))),
    lamports: keys.map((address, index) => {
      const account = accounts[index];
      return account === undefined ? runtime.lamports(address) : (account?.lamports ?? 0n);
    }),
    tokens: tokenBalances(runtime, read),
  };
}

/** LiteSVM charges nothing for these failures, but a cluster does. */
function chargeUnexecuted(
  runtime: Runtime,
  payer: Uint8Array,
  { execution, fee }: { execution: Execution; fee: bigint },
): void {
  const account = runtime.account(payer);
  const isCharged = typeof execution.err === 'string' && CHARGED_UNEXECUTED.has(execution.err);
  if (!isCharged || !account || account.lamports < fee) return;
  runtime.setAccount(payer, { ...account, lamports: account.lamports - fee });
}

function changesOf(keys: readonly Uint8Array[], before: Snapshot, after: Snapshot): Change[] {
  return [...before.writable].flatMap(([index, from]) => {
    const to = after.writable.get(index) ?? null;
    return isSame(from, to)
      ? []
      : [{ address: keys[index] as Uint8Array, before: from, after: to }];
  });
}

function isSame(one: Account | null, other: Account | null): boolean {
  if (one === null || other === null) return one === other;
  return (
    one.lamports === other.lamports &&
    one.executable === other.executable &&
    Buffer.compare(one.owner, other.owner) === 0 &&
    Buffer.compare(one.data, other.data) === 0
  );
}
