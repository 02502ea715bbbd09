import type { LedgerEventData } from '../../../../indexer/fold/event.ts';
import type { EventKind } from '../../../../webhooks/events.ts';
import { WALLETS } from '../ledger/drawInstructions.ts';
import type { SimulatedLedger } from '../ledger/simulatedLedger.ts';
import type { Delivery } from './announcements.ts';
import { describeDifferences } from './describeDifferences.ts';

/** What a wallet's webhooks get of its own events, without regard to balances. */
const KINDS: { readonly [Name in LedgerEventData['name']]?: EventKind } = {
  JobLocked: 'job.submitted',
  JobAcknowledged: 'job.processing',
  JobSettled: 'job.completed',
  JobCompleted: 'job.completed',
  JobFailed: 'job.failed',
  JobRefunded: 'job.timeout',
  JobDisputed: 'job.disputed',
  DisputeResolved: 'job.dispute_resolved',
  DisputeExpired: 'job.dispute_resolved',
  CreditBought: 'credit.topup',
};
const THRESHOLD_CREDITS = 100n;

/**
 * A clean fold should announce what the ledger's events are known to be, counted here without any
 * of the indexer's code.
 *
 * @param floorSlot nothing up to it is announced
 */
export function compareDueEvents(
  due: readonly Delivery[],
  ledger: SimulatedLedger,
  floorSlot: bigint,
): string[] {
  const expected = new Map<string, number>();
  const low = new Set<string>();
  const locked = new Map<string, bigint>();
  const acknowledged = new Set<string>();
  for (const { slot, signature, events } of ledger.transactions) {
    for (const event of events) {
      noteLocked(event, locked);
      if (event.name === 'JobAcknowledged') acknowledged.add(attemptOf(event.data));
      if (slot <= floorSlot) continue;
      for (const [wallet, kind] of noticesOf(event, ledger, { low, locked, acknowledged })) {
        count(expected, `${kind} of ${signature} for ${wallet}`);
      }
    }
  }
  const found = new Map<string, number>();
  for (const { kind, signature, wallet } of due)
    count(found, `${kind} of ${signature} for ${wallet}`);
  return describeDifferences(found, expected);
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** What earlier events have said. */
interface Before {
  /** The wallets that got `credit.low` since they were last above the threshold. */
  readonly low: Set<string>;
  /** What each wallet has in locks. */
  readonly locked: ReadonlyMap<string, bigint>;
  /** The attempts that were acknowledged apart. */
  readonly acknowledged: ReadonlySet<string>;
}

const attemptOf = ({ job, attempt }: { job: string; attempt: number }) => `${job} ${attempt}`;

function noteLocked({ data }: LedgerEventData, locked: Map<string, bigint>): void {
  if (!('wallet' in data)) return;
  if ('accountLockedCredits' in data) locked.set(data.wallet, BigInt(data.accountLockedCredits));
  else if ('lockedCredits' in data) locked.set(data.wallet, BigInt(data.lockedCredits));
}

function noticesOf(
  event: LedgerEventData,
  { state }: SimulatedLedger,
  before: Before,
): (readonly [wallet: string, kind: EventKind])[] {
  const { name, data } = event;
  if (name === 'WorkerRegistered') return WALLETS.map((wallet) => [wallet, 'worker.registered']);
  const job = 'jobId' in data ? state.jobs.get(data.jobId) : undefined;
  const claimant =
    name === 'ClaimPaid'
      ? [...state.wallets.values()].find(({ creditAccount }) => creditAccount === data.claimant)
      : undefined;
  const wallet = 'wallet' in data ? data.wallet : (job ?? claimant)?.wallet;
  if (wallet === undefined) return [];
  const notices: [string, EventKind][] = [];
  if (name === 'JobCompleted' && !before.acknowledged.has(attemptOf(data))) {
    notices.push([wallet, 'job.processing']);
  }
  const kind = KINDS[name];
  if (kind) notices.push([wallet, kind]);
  if (name === 'DisputeResolved' && data.slashedTokens !== '0') {
    for (const everybody of WALLETS) notices.push([everybody, 'worker.slashed']);
  }
  if (isAlert(event, wallet, before)) notices.push([wallet, 'credit.low']);
  return notices;
}

/** What takes credits away for good, and what only brings some. */
const SPENDING: readonly string[] = ['JobSettled', 'JobCompleted', 'CreditWithdrawn'];
const BRINGING: readonly string[] = ['CreditBought', 'ClaimPaid'];

/** Whether credits that left for good took the wallet below the threshold. */
function isAlert(
  { name, data }: LedgerEventData,
  wallet: string,
  { low, locked }: Before,
): boolean {
  const isSpending = SPENDING.includes(name);
  if (!isSpending && !BRINGING.includes(name)) return false;
  if (!('availableCredits' in data)) return false;
  if (BigInt(data.availableCredits) + (locked.get(wallet) ?? 0n) >= THRESHOLD_CREDITS) {
    low.delete(wallet);
    return false;
  }
  if (!isSpending || low.has(wallet)) return false;
  low.add(wallet);
  return true;
}
