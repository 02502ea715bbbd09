import type { SendResult } from '@svc-inference/client/wallet';
import type { Plan } from '../../programs/client/wallet/plan.ts';
import { createStore, storage, useStore } from '../data/browserStore.ts';
import { notifyTabs } from '../data/tabs.ts';

/** A signed transaction whose result is not certain yet. */
export interface PendingTransaction {
  readonly signature: string;
  /** In base64, so that it can be sent again. */
  readonly wire: string;
  /** Above this height of the final chain it can never land. */
  readonly lastValidBlockHeight: number;
  readonly title: string;
  readonly wallet: string;
}

export interface EndedTransaction extends PendingTransaction {
  readonly outcome: SendResult;
}

const NAME = 'svc.pending';

/** Kept in this browser, so that a reload loses none. */
const pending = createStore<readonly PendingTransaction[]>(read());
const ended = createStore<readonly EndedTransaction[]>([]);

function read(): PendingTransaction[] {
  try {
    const kept: unknown = JSON.parse(storage.get(NAME) ?? '[]');
    return Array.isArray(kept) ? kept : [];
  } catch {
    return [];
  }
}

/** Whether this browser's storage keeps them; if not, only this page has them. */
let isKept = true;

/** Those of every page of this browser, since others may have written after this one read. */
const latest = () => (isKept ? read() : pending.get());

function write(transactions: readonly PendingTransaction[]): void {
  isKept = storage.set(NAME, transactions.length === 0 ? null : JSON.stringify(transactions));
  pending.set(transactions);
}

// Another page's transaction is followed here too, and is not signed a second time.
addEventListener('storage', ({ key }) => {
  if (key === NAME || key === null) pending.set(read());
});

/** Whether the wallet has signed the same in any page, and its result is not certain yet. */
export function isPending(title: string, wallet: string): boolean {
  return latest().some((one) => one.title === title && one.wallet === wallet);
}

export function addPending(transaction: PendingTransaction): void {
  write([...latest(), transaction]);
}

/** Removes a transaction that was never sent. */
export function dropPending({ signature }: PendingTransaction): void {
  write(latest().filter((one) => one.signature !== signature));
}

export function endPending(transaction: PendingTransaction, outcome: SendResult): void {
  dropPending(transaction);
  const news = { ...transaction, outcome };
  noteEnded(news);
  notifyTabs({ kind: 'ended', transaction: news });
}

/** Shows how a transaction ended that this page or another one followed. */
export function noteEnded(news: EndedTransaction): void {
  if (news.outcome.status !== 'expired') plans.delete(news.signature);
  const others = ended.get().filter(({ signature }) => signature !== news.signature);
  ended.set([...others, news]);
}

/** Removes the notice of a transaction's end. */
export function dismissEnded(signature: string): void {
  plans.delete(signature);
  ended.set(ended.get().filter((one) => one.signature !== signature));
}

/** What this page has sent, by signatures, until it landed, failed or was dismissed. */
const plans = new Map<string, Plan>();

/** Keeps a plan, so that it can be signed again once its transaction has expired. */
export function keepPlan(signature: string, plan: Plan): void {
  plans.set(signature, plan);
}

/** What a transaction was to do; undefined where another page, or this one before a reload, sent it. */
export const planOf = (signature: string): Plan | undefined => plans.get(signature);

export const usePending = () => useStore(pending);
export const useEnded = () => useStore(ended);
