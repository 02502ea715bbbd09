import type { LedgerConnection } from '../../../programs/client/ledgerConnection.ts';
import { CLOCK, unixTimeOf } from '../../../programs/client/verify/ledgerState.ts';
import { VERSION_MAX } from '../../../programs/client/wire/index.ts';
import type { Forgery, ForgingNode } from '../../auditors/forgeries/node.ts';
import {
  type LedgerSnapshot,
  type SnapshotAccount,
  type SnapshotChanges,
  type SnapshotListed,
  type SnapshotTransaction,
  snapshotTransaction,
} from './snapshot.ts';

/** What verifications have read of a node, forged or not. */
export interface Recording {
  readonly connection: LedgerConnection;
  snapshot(): LedgerSnapshot;
}

/** @param node keeps its answers, so that all recordings are of one moment */
export function record(node: ForgingNode, forgery: Forgery = {}): Recording {
  const kept = {
    transactions: {} as Record<string, SnapshotTransaction | null>,
    accounts: {} as Record<string, SnapshotAccount | null>,
    signatures: {} as Record<string, readonly SnapshotListed[]>,
  };
  let [slot, unixTime] = [0, 0n];
  const reader = node.reader(forgery, ({ method, params: [subject, options] }, result) => {
    const name = String(subject);
    if (method === 'getTransaction') kept.transactions[name] = transactionOf(result);
    if (method === 'getSignaturesForAddress' && !isFurtherPage(options)) {
      kept.signatures[name] = (result as SnapshotListed[]).map(keptListed);
    }
    if (method !== 'getAccountInfo') return;
    const { context, value } = result as Shown;
    slot = Math.max(slot, context.slot);
    if (name === CLOCK.toBase58()) unixTime = clockOf(value);
    else kept.accounts[name] = value && keptAccount(value);
  });
  const connection: LedgerConnection = {
    ...reader,
    async getSignaturesForAddress(address, options, commitment) {
      // A snapshot has lists from their beginning.
      const isKnown = address.toBase58() in kept.signatures;
      if (!isKnown) await reader.getSignaturesForAddress(address, { limit: PAGE }, commitment);
      return reader.getSignaturesForAddress(address, options, commitment);
    },
  };
  return { connection, snapshot: () => ({ slot, unix_time: Number(unixTime), ...kept }) };
}

/** More than any of the ledgers here has. */
const PAGE = 1_000;

interface Shown {
  readonly context: { readonly slot: number };
  readonly value: SnapshotAccount | null;
}

const isFurtherPage = (options: unknown): boolean =>
  (options as { before?: string }).before !== undefined;

const transactionOf = (result: unknown): SnapshotTransaction | null =>
  result === null ? null : snapshotTransaction(result as Parameters<typeof snapshotTransaction>[0]);

const clockOf = (account: SnapshotAccount | null): bigint =>
  unixTimeOf(account && { data: Buffer.from(account.data[0], 'base64') });

const keptAccount = ({ data, executable, lamports, owner }: SnapshotAccount) => ({
  ...{ data, executable, lamports, owner },
});

const keptListed = ({ signature, slot, err }: SnapshotListed) => ({ signature, slot, err });

/** Reads what is listed and was not read, so that readers of any order find it. */
export async function readListed({ connection, snapshot }: Recording): Promise<void> {
  const { signatures, transactions } = snapshot();
  const listed = new Set(Object.values(signatures).flatMap((all) => all.map(signatureOf)));
  for (const signature of listed) {
    if (signature in transactions) continue;
    await connection.getTransaction(signature, {
      commitment: 'confirmed',
      maxSupportedTransactionVersion: VERSION_MAX,
    });
  }
}

const signatureOf = ({ signature }: SnapshotListed): string => signature;

/** What one snapshot has otherwise than another. */
export function changesFrom(base: LedgerSnapshot, other: LedgerSnapshot): SnapshotChanges {
  const differing = <Part extends object>(one: Part, two: Part): Part =>
    Object.fromEntries(
      Object.entries(two).filter(
        ([name, value]) => !isSame(value, (one as Record<string, unknown>)[name]),
      ),
    ) as Part;
  const { unix_time, page, transactions, accounts, signatures } = other;
  const changes = {
    transactions: differing(base.transactions, transactions),
    accounts: differing(base.accounts, accounts),
    signatures: differing(base.signatures, signatures),
  };
  const parts = Object.entries(changes).filter(([, part]) => Object.keys(part).length > 0);
  return {
    ...(unix_time !== base.unix_time && { unix_time }),
    ...(page !== base.page && { page }),
    ...Object.fromEntries(parts),
  };
}

/** Nothing listed, and no account, is the same as what is not there. */
const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one ?? null) === JSON.stringify(other ?? null) ||
  (Array.isArray(one) && one.length === 0 && other === undefined);
