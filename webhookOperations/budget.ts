import type pg from 'pg';
import { hostOf } from '../common/net/addressGuard.ts';
import { type Database, inTransaction } from '../common/postgres.ts';

/**
 * How many deliveries may be requested in any minute, of one wallet and to one host. So tests,
 * triggers and replays flood no receiver. It holds over all processes, but not for operators.
 *
 * While another wallet waits for a host, a wallet has a third of what goes there. A test that failed
 * counts once more for its wallet, for five minutes.
 */
export interface Budget {
  readonly perMinute: number;
}

/** The request is above a budget, and nothing of it was done. */
export class BudgetSpentError extends Error {
  override name = 'BudgetSpentError';
  readonly limit: number;
  readonly limitOf: 'wallet' | 'host' | 'webhook';
  /** Until the request fits. */
  readonly retryAfterSeconds: number;
  /** For which hosts the wallet waits. */
  readonly waits: readonly string[];

  constructor(
    message: string,
    options: Pick<BudgetSpentError, 'limit' | 'limitOf' | 'retryAfterSeconds'> &
      Partial<Pick<Spent, 'waits'>>,
  ) {
    super(message);
    this.limit = options.limit;
    this.limitOf = options.limitOf;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.waits = options.waits ?? [];
  }
}

/** Runs `work` in one transaction. Where it is above a host's budget, its wallet waits for that host. */
export async function inBudget<Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  try {
    return await inTransaction(pool, work);
  } catch (error) {
    // One row in ten seconds for each, however often it is refused.
    if (error instanceof BudgetSpentError) {
      await pool.query(
        `insert into service.requested_deliveries (whose, deliveries)
         select waiting, 0 from unnest($1::text[]) as waiting
         where not exists (
           select from service.requested_deliveries
           where whose = waiting and requested_at > clock_timestamp() - interval '10 seconds'
         )`,
        [error.waits],
      );
    }
    throw error;
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
  for (const key of urls.flatMap((url) => [hostKey(url), shareKey(url, wallet)])) {
    wanted.set(key, (wanted.get(key) ?? 0) + 1);
  }
  const left = await lockBudgets(client, budget, wanted, wallet);
  const exceeded = left.filter(({ whose, deliveries }) => deliveries < (wanted.get(whose) ?? 0));
  if (exceeded.length > 0) {
    const seconds = exceeded.map(({ after_seconds }) => after_seconds ?? BUDGET_SECONDS);
    const spent = exceeded.map(({ whose }) => whose);
    throw budgetSpent(budget, Math.max(1, ...seconds), whatIsSpent(urls, wallet, spent));
  }
  await storeUse(client, wanted);
}

/** What the budgets allow of what was asked for. */
interface Granted extends Spent {
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
  const none: Spent = { limitOf: 'host', waits: [] };
  if (!budget) return { granted: urls.map(() => true), retryAfterSeconds: null, ...none };
  const keysOf = (url: string) => [
    hostKey(url),
    ...(wallet === null ? [] : [walletKey(wallet), shareKey(url, wallet)]),
  ];
  const wanted = new Map(urls.flatMap(keysOf).map((whose) => [whose, 1]));
  const before = await lockBudgets(client, budget, wanted, wallet);
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
  return {
    granted,
    retryAfterSeconds: waits.length > 0 ? Math.max(1, Math.min(...waits)) : null,
    ...(wallet === null ? none : whatIsSpent(urls, wallet, [...wanted.keys()].filter(isSpent))),
  };
}

const walletKey = (wallet: string): string => `wallet ${wallet}`;
/** Of any port and path; a URL has one spelling of each host but for the last dot. */
const hostKey = (url: string): string => `host ${hostOf(new URL(url))}`;
/** A wallet's part of a host's. */
const shareKey = (url: string, wallet: string): string => `share ${hostOf(new URL(url))} ${wallet}`;

interface Spent {
  /** Whose budget is spent. */
  readonly limitOf: 'wallet' | 'host';
  /** For which hosts the wallet waits: those whose budgets it found spent, and not its own. */
  readonly waits: readonly string[];
}

function whatIsSpent(urls: readonly string[], wallet: string, spent: readonly string[]): Spent {
  if (spent.includes(walletKey(wallet))) return { limitOf: 'wallet', waits: [] };
  const hosts = urls.filter((url) => spent.includes(hostKey(url)));
  const waits = new Set(hosts.map((url) => `waits ${hostOf(new URL(url))} ${wallet}`));
  return { limitOf: 'host', waits: [...waits] };
}

interface Remaining {
  readonly whose: string;
  /** How many may still be requested in this minute. */
  readonly deliveries: number;
  /** Until what is wanted fits; null where it does. */
  readonly after_seconds: number | null;
}

/** For so long a test that failed counts. */
const FAILED_TEST_SECONDS = 300;
/** Of a host's budget, while another wallet waits. */
const SHARE = 1 / 3;

/**
 * Locks these budgets until the transaction ends.
 *
 * @param wallet whose failed tests count, where it is known
 */
async function lockBudgets(
  client: Database,
  { perMinute }: Budget,
  wanted: ReadonlyMap<string, number>,
  wallet: string | null,
): Promise<Remaining[]> {
  // In one order, so that no two transactions wait for each other.
  const whose = [...wanted.keys()].sort();
  await client.query(
    `select pg_advisory_xact_lock(hashtextextended('requested ' || whose, 0))
     from unnest($1::text[]) as whose`,
    [whose],
  );
  await client.query(
    `select from service.delete_rows('requested_deliveries', array(
       select ctid from service.requested_deliveries
       where whose = any($1) and requested_at <= clock_timestamp() - $2 * interval '1 second'
       for update
     ))`,
    [whose, BUDGET_SECONDS],
  );
  const { rows } = await client.query<Remaining>(
    `with waiting as (
       select split_part(whose, ' ', 2) as host, split_part(whose, ' ', 3) as wallet
       from service.requested_deliveries
       where starts_with(whose, 'waits ')
         and requested_at > clock_timestamp() - $4 * interval '1 second'
     ), wanted as (
       select whose, deliveries, case when starts_with(whose, 'share ') and exists (
         select from waiting where host = split_part(whose, ' ', 2) and wallet <> $5
       ) then $6::integer else $3::integer end as allowed
       from unnest($1::text[], $2::integer[]) as wanted (whose, deliveries)
     ), counted as (
       select whose, requested.deliveries, requested_at
       from wanted join service.requested_deliveries requested using (whose)
       union all
       select whose, 1, stored_at + $7 * interval '1 second'
       from wanted, service.webhooks webhook
       join service.webhook_deliveries delivery on webhook_id = webhook.id
       -- Where no other wallet waits, a share is as large as the wallet's own budget, which counts them.
       where (starts_with(whose, 'wallet ') or allowed < $3) and wallet = $5 and signature is null
         and delivery.status = 'failed'
         and stored_at + $7 * interval '1 second' > clock_timestamp() - $4 * interval '1 second'
     ), recent as (
       select *, sum(deliveries) over (
         partition by whose order by requested_at desc rows unbounded preceding
       ) as since
       from counted
     )
     select whose, allowed - coalesce(sum(recent.deliveries), 0)::integer as deliveries,
       ceil(extract(epoch from max(requested_at) filter (
         where since > allowed - wanted.deliveries
       ) + $4 * interval '1 second' - clock_timestamp()))::integer as after_seconds
     from wanted left join recent using (whose) group by whose, allowed`,
    [
      ...[whose, whose.map((one) => wanted.get(one)), perMinute, BUDGET_SECONDS, wallet],
      ...[Math.max(1, Math.floor(perMinute * SHARE)), FAILED_TEST_SECONDS - BUDGET_SECONDS],
    ],
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
export function budgetSpent(
  { perMinute }: Budget,
  retryAfterSeconds: number,
  spent: Spent,
): BudgetSpentError {
  return new BudgetSpentError(
    `At most ${perMinute} tests and repeated deliveries a minute go out for one wallet, and to one ` +
      `host. Try again in ${retryAfterSeconds} s.`,
    { limit: perMinute, retryAfterSeconds, ...spent },
  );
}
