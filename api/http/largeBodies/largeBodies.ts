import { setTimeout } from 'node:timers/promises';
import type { Database } from '../../../common/postgres.ts';
import { lockCredits } from '../../../programs/client/pricing.ts';
import { createLaneQueue } from '../../../programs/client/sender/sender.ts';
import { ApiError, serviceUnavailable } from '../../contracts/errors.ts';
import type { Catalog } from '../../jobs/catalog.ts';
import { insufficientCredits } from '../../ledger/lockOnLedger.ts';
import { selectMeans } from '../../sql/accounts.ts';
import { priceOf } from '../../sql/workers.ts';

/** Bytes that have arrived of bodies that are not parsed yet. */
const BYTES_MAX = { wallet: 16 << 20, address: 64 << 20, all: 256 << 20 };

/** Parsing a body takes far less than a second. */
const RETRY_AFTER_SECONDS = 1;

/**
 * How long others have the thread after a large body was parsed, by the time that this took. So all
 * large bodies together have a fifth of it.
 */
const PAUSE_FACTOR = 4;

export type LargeBodies = ReturnType<typeof createLargeBodies>;

/**
 * What a wallet may have this process read at a time. Of each body that is larger than most prompts:
 *
 * - no byte is read for a wallet that could pay for no request
 * - what has arrived counts until it is parsed, for its wallet, its address and in all, and never
 *   exceeds `bytesMax`. For the moment of parsing it is there twice
 * - one is parsed at a time. Wallets take turns, so each waits for one body of any other
 *
 * @param options.nowSeconds the ledger's time
 * @param options.bytesMax how many bytes may be held
 */
export function createLargeBodies(options: {
  database: Database;
  catalog: Pick<Catalog, 'list'>;
  nowSeconds: () => bigint;
  bytesMax?: typeof BYTES_MAX;
}) {
  const { database, catalog, nowSeconds, bytesMax = BYTES_MAX } = options;
  const hold = createQuotas(bytesMax);
  const turns = createLaneQueue({ limit: 1, nowMs: () => performance.now() });

  return {
    /**
     * Credits that other jobs hold count, too: they may be free by the time of the lock. A repeat
     * finds the answer of a job that took the wallet's last credits.
     *
     * @throws ApiError `insufficient_credits`, or `service_unavailable` while it is not known
     */
    async admit(wallet: string): Promise<void> {
      const [cheapest] = catalog
        .list()
        .map((model) => ({ model, lockCredits: lockCredits(priceOf(model), 1) }))
        .toSorted((one, other) => Number(one.lockCredits - other.lockCredits));
      if (!cheapest) throw serviceUnavailable('The prices are not known yet; try again.');
      const means = await selectMeans(database, { wallet, nowSeconds: nowSeconds() });
      const { available_credits, locked_credits, has_recent_job } = means;
      if (available_credits + locked_credits >= cheapest.lockCredits || has_recent_job) return;
      throw insufficientCredits(cheapest, available_credits);
    },
    /** Counts what arrives of a body, until it is let go. */
    hold,
    /** Parses a body when its wallet's turn comes. @throws what `parse` throws */
    inTurn<Parsed>(wallet: string, parse: () => Parsed): Promise<Parsed> {
      return new Promise((resolve, reject) => {
        void turns.run(wallet, async () => {
          const startedMs = performance.now();
          try {
            resolve(parse());
          } catch (error) {
            reject(error);
          }
          await setTimeout(PAUSE_FACTOR * (performance.now() - startedMs));
        });
      });
    },
  };
}

/** @throws ApiError */
function refuse(whose: Whose, limit: number): never {
  if (whose === 'all') {
    throw serviceUnavailable('Too many large bodies are being read; try again.');
  }
  throw new ApiError(
    'rate_limit_exceeded',
    `Too many large requests from this ${whose}: ${limit} bytes of bodies of one ${whose} are held ` +
      'at a time. Send it again in a second.',
    { retryAfterSeconds: RETRY_AFTER_SECONDS, details: { limit, limit_of: whose } },
  );
}

/** Who sent a request. */
interface Sender {
  wallet: string;
  /** In the form in which bursts are limited. */
  address: string;
}

type Whose = keyof Sender | 'all';

/**
 * Counts what each wallet, each address and all together hold at a time, up to a quota.
 *
 * @param max of each of them
 * @returns what begins to count for a sender
 */
function createQuotas(max: Readonly<Record<Whose, number>>) {
  /** By whose it is. */
  const held = new Map<string, number>();
  const heldBy = (name: string): number => held.get(name) ?? 0;

  return ({ wallet, address }: Sender) => {
    const quotas = [
      { whose: 'wallet', name: `wallet ${wallet}` },
      { whose: 'address', name: `address ${address}` },
      { whose: 'all', name: 'all' },
    ] as const;
    let own = 0;

    function release(): void {
      for (const { name } of quotas) {
        const left = heldBy(name) - own;
        if (left > 0) held.set(name, left);
        else held.delete(name);
      }
      own = 0;
    }

    return {
      /** @throws ApiError where there is no room; then nothing is held */
      keep(amount: number): void {
        const more = amount - own;
        const exceeded = quotas.find(({ whose, name }) => heldBy(name) + more > max[whose]);
        if (exceeded) {
          // First, or bodies that arrive together would all refuse each other.
          release();
          refuse(exceeded.whose, max[exceeded.whose]);
        }
        own = amount;
        for (const { name } of quotas) held.set(name, heldBy(name) + more);
      },
      release,
    };
  };
}
