import type { PublicKey } from '@solana/web3.js';
import { connectLedger } from '../../../programs/client/verify/connection/connectLedger.ts';
import type { ClientEvidence } from '../../../programs/client/verify/job/clientEvidence.ts';
import { CLOCK, unixTimeOf } from '../../../programs/client/verify/ledgerState.ts';
import { VERSION_MAX } from '../../../programs/client/wire/index.ts';
import { forwardTo } from '../../../testing/ledger/interceptedConnection.ts';
import {
  type LedgerSnapshot,
  type SnapshotAccount,
  type SnapshotChanges,
  type SnapshotListed,
  type SnapshotTransaction,
  snapshotTransaction,
} from './snapshot.ts';
import { checksOf } from './verdict.ts';

/**
 * What a node shows of jobs, as far as verifications read it.
 *
 * @param client what is compared, where that makes a verification read more
 */
export async function recordJobs(
  { ledger: { rpcUrl } }: { readonly ledger: { readonly rpcUrl: string } },
  jobs: readonly PublicKey[],
  client: ClientEvidence = {},
): Promise<LedgerSnapshot> {
  const kept = {
    transactions: {} as Record<string, SnapshotTransaction | null>,
    accounts: {} as Record<string, SnapshotAccount | null>,
    signatures: {} as Record<string, readonly SnapshotListed[]>,
  };
  let [slot, unixTime] = [0, 0n];
  const forward = forwardTo(rpcUrl);
  async function ask(method: string, params: readonly unknown[]): Promise<unknown> {
    const request = { id: '1', jsonrpc: '2.0', method, params: [...params] };
    const { result } = (await forward(request)) as { result: unknown };
    const [name, options] = params as [string, { before?: string }];
    if (method === 'getTransaction') {
      kept.transactions[name] = result === null ? null : snapshotTransaction(result as never);
    }
    if (method === 'getSignaturesForAddress' && options.before === undefined) {
      kept.signatures[name] = (result as SnapshotListed[]).map(keptListed);
    }
    if (method === 'getAccountInfo') {
      const { context, value } = result as Shown;
      slot = Math.max(slot, context.slot);
      if (name === CLOCK.toBase58()) unixTime = clockOf(value);
      else kept.accounts[name] = value && keptAccount(value);
    }
    return result;
  }
  const reader = connectLedger({
    ask: async (method, params, read) => read(await ask(method, params)),
  });
  const connection: typeof reader = {
    ...reader,
    async getSignaturesForAddress(address, options, commitment) {
      // A snapshot has lists from their beginning.
      const isKnown = address.toBase58() in kept.signatures;
      if (!isKnown) await reader.getSignaturesForAddress(address, { limit: PAGE }, commitment);
      return reader.getSignaturesForAddress(address, options, commitment);
    },
  };
  for (const job of jobs) await checksOf(connection, job.toBase58(), client);
  // Readers of any order find what is listed.
  for (const { signature } of Object.values(kept.signatures).flat()) {
    if (signature in kept.transactions) continue;
    await connection.getTransaction(signature, {
      commitment: 'confirmed',
      maxSupportedTransactionVersion: VERSION_MAX,
    });
  }
  // Several are read at once, and answered in any order.
  const transactions = Object.fromEntries(
    Object.entries(kept.transactions).toSorted(([, one], [, other]) => slotOf(one) - slotOf(other)),
  );
  return { slot, unix_time: Number(unixTime), ...kept, transactions };
}

/** More than any of the ledgers here has. */
const PAGE = 1_000;

interface Shown {
  readonly context: { readonly slot: number };
  readonly value: SnapshotAccount | null;
}

const slotOf = (shown: SnapshotTransaction | null): number => shown?.slot ?? 0;

const clockOf = (account: SnapshotAccount | null): bigint =>
  unixTimeOf(account && { data: Buffer.from(account.data[0], 'base64') });

const keptAccount = ({ data, executable, lamports, owner }: SnapshotAccount) => ({
  ...{ data, executable, lamports, owner },
});

const keptListed = ({ signature, slot, err }: SnapshotListed) => ({ signature, slot, err });

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
