import { hostOf } from '../common/net/addressGuard.ts';
import type { Database } from '../common/postgres.ts';

/**
 * How many deliveries may be requested in any minute, of one wallet and to one host. So tests,
 * triggers and replays flood no receiver. It holds over all processes, but not for operators.
 */
export interface Budget {
  readonly perMinute: number;
}

/** The request is above a budget, and nothing of it was done. */
export class BudgetSpentError extends Error {
  override name = 'BudgetSpentError';
  readonly limit: number;
  /** Until the request fits. */
  readonly retryAfterSeconds: number;

  constructor(message: string, options: { limit: number; retryAfterSeconds: number }) {
    super(message);
    this.limit = options.limit;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** Whose webhooks get how many deliveries. */
interface Requested {
  readonly wallet: string;
  readonly urls: readonly string[];
}

/** How long a requested delivery counts. */
export const BUDGET_SECONDS = 60;

/**
 * Takes all that was requested out of the budgets. To be called in the database transaction that
 * queues the deliveries, with their webhooks locked.
 *
 * @throws BudgetSpentError
 */
export async function spendBudget(
  client: Database,
  budget: Budget | undefined,
  { wallet, urls }: Requested,
): Promise<void> {
  if (!budget) return;
  const wanted = new Map<string, number>([[walletKey(wallet), Math.max(1, urls.length)]]);
  for (const url of urls) wanted.set(hostKey(url), (wanted.get(hostKey(url)) ?? 0) + 1);
  const left = await lockBudgets(client, budget, wanted);
  const exceeded = left.filter(({ whose, deliveries }) => deliveries < (wanted.get(whose) ?? 0));
  if (exceeded.length > 0) {
    const seconds = exceeded.map(({ after_seconds }) => after_seconds ?? BUDGET_SECONDS);
    throw budgetSpent(budget, Math.max(1, ...seconds));
  }
  await storeUse(client, wanted);
}

/** What the budgets allow of what was asked for. */
interface Granted {
  /** For each url, in their order, whether its delivery may go out. */
  readonly granted: readonly boolean[];
  /** Until one more may go out; null where all may. */
  readonly retryAfterSeconds: number | null;
}

/**
 * Takes as many as are left, one after the other. To be called as `spendBudget` is.
 *
 * @param requested.wallet null where only the hosts count
 */
export async function takeBudget(
  client: Database,
  budget: Budget | undefined,
  { wallet, urls }: { readonly wallet: string | null; readonly urls: readonly string[] },
): Promise<Granted> {
  if (!budget) return { granted: urls.map(() => true), retryAfterSeconds: null };
  const keysOf = (url: string) => [hostKey(url), ...(wallet === null ? [] : [walletKey(wallet)])];
  const wanted = new Map(urls.flatMap(keysOf).map((whose) => [whose, 1]));
  const before = await lockBudgets(client, budget, wanted);
  const left = new Map(before.map(({ whose, deliveries }) => [whose, deliveries]));
  const taken = new Map<string, number>();
  const isSpent = (whose: string) => (taken.get(whose) ?? 0) >= (left.get(whose) ?? 0);
  const granted = urls.map((url) => {
    const keys = keysOf(url);
    const fits = !keys.some(isSpent);
    if (fits) for (const whose of keys) taken.set(whose, (taken.get(whose) ?? 0) + 1);
    return fits;
  });
  await storeUse(client, taken);
  const seconds = new Map(before.map(({ whose, after_seconds }) => [whose, after_seconds]));
  const waitOf = (url: string) =>
    Math.max(
      ...keysOf(url)
        .filter(isSpent)
        .map((whose) => seconds.get(whose) ?? BUDGET_SECONDS),
    );
  const waits = urls.filter((_, index) => !granted[index]).map(waitOf);
  return { granted, retryAfterSeconds: waits.length > 0 ? Math.max(1, Math.min(...waits)) : null };
}

const walletKey = (wallet: string): string => `wallet ${wallet}`;
/** Of any port and path; a URL has one spelling of each host but for the last dot. */
const hostKey = (url: string): string => `host ${hostOf(new URL(url))}`;

interface Remaining {
  readonly whose: string;
  /** How many may still be requested in this minute. */
  readonly deliveries: number;
  /** Until what is wanted fits; null where it does. */
  readonly after_seconds: number | null;
}

/** Locks these budgets until the transaction ends. */
async function lockBudgets(
  client: Database,
  { perMinute }: Budget,
  wanted: ReadonlyMap<string, number>,
): Promise<Remaining[]> {
  // In one order, so that no two transactions wait for each other.
  const whose = [...wanted.keys()].sort();
  await client.query(
    `select pg_advisory_xact_lock(hashtextextended('requested ' || whose, 0))
     from unnest($1::text[]) as whose`,
    [whose],
  );
  await client.query(
    `delete from service.requested_deliveries
     where whose = any($1) and requested_at <= clock_timestamp() - $2 * interval '1 second'`,
    [whose, BUDGET_SECONDS],
  );
  const { rows } = await client.query<Remaining>(
    `with wanted as (
       select * from unnest($1::text[], $2::integer[]) as wanted (whose, deliveries)
     ), recent as (
       select whose, requested.deliveries, requested_at,
         sum(requested.deliveries) over (partition by whose order by id desc) as since
       from wanted join service.requested_deliveries requested using (whose)
     )
     select wanted.whose,
       $3::integer - coalesce(sum(recent.deliveries), 0)::integer as deliveries,
       ceil(extract(epoch from max(requested_at) filter (
         where since > $3::integer - wanted.deliveries
       ) + $4 * interval '1 second' - clock_timestamp()))::integer as after_seconds
     from wanted left join recent using (whose) group by wanted.whose`,
    [whose, whose.map((one) => wanted.get(one)), perMinute, BUDGET_SECONDS],
  );
  return rows;
}

async function storeUse(client: Database, taken: ReadonlyMap<string, number>): Promise<void> {
  await client.query(
    `insert into service.requested_deliveries (whose, deliveries)
     select * from unnest($1::text[], $2::integer[])`,
    [[...taken.keys()], [...taken.values()]],
  );
}

/** @param retryAfterSeconds until the request fits */
export function budgetSpent({ perMinute }: Budget, retryAfterSeconds: number): BudgetSpentError {
  return new BudgetSpentError(
    `At most ${perMinute} tests and repeated deliveries a minute go out for one wallet, and to one ` +
      `host. Try again in ${retryAfterSeconds} s.`,
    { limit: perMinute, retryAfterSeconds },
  );
}
