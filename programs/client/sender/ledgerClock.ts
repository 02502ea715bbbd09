import { SYSVAR_CLOCK_PUBKEY } from '@solana/web3.js';
import { delay, withResolvers } from '../../../common/wait.ts';
import { unixSecondsOf } from '../accounts.ts';
import { getAccountInfo } from '../rpc/methods.ts';
import type { Rpc } from '../rpc/rpc.ts';

export type LedgerClock = ReturnType<typeof createLedgerClock>;

const CLOCK = SYSVAR_CLOCK_PUBKEY.toBase58();
const INTERVAL_MS_MAX = 400;
/** Of the interval. After it, a reading shares the next request. */
const APART_SHARE = 0.5;
/** Far below what a timer can hold. */
const RECHECK_MS_MAX = 60_000;
const SECOND_MS = 1_000;

/** Milliseconds since this process began. */
const passedMs = (): number => performance.now();

/**
 * The ledger's time, by which every deadline of a job is judged.
 *
 * Follows the ledger's Clock by reading it two to five times a second; a jump shows with the next
 * reading.
 *
 * While the ledger is out of reach, time runs on by a monotone clock. Setting this machine's clock
 * changes no deadline.
 *
 * @param options.rpc the ledger's node, as `connectRpc` gives it
 * @param options.intervalMs the longest time between two readings, 400 by default; the shortest is
 *   half of it
 */
export function createLedgerClock(options: { rpc: Rpc; intervalMs?: number }) {
  const { rpc, intervalMs = INTERVAL_MS_MAX } = options;
  const closing = new AbortController();
  const first = withResolvers<void>();
  let offsetMs: number | undefined;
  let giveUp = (): void => undefined;
  // A caller of `ready` gets the rejection. Without one, it must not end the process.
  first.promise.catch(() => undefined);

  /** The ledger's Unix time in milliseconds; between two readings it runs with local time. */
  const nowMs = (): number =>
    Math.floor(offsetMs === undefined ? Date.now() : passedMs() + offsetMs);
  const waiters = createWaiters(nowMs);

  /** The Clock's unix_timestamp, read now. @throws when the ledger cannot be reached */
  async function read(): Promise<bigint> {
    const askedMs = passedMs();
    const { value } = await getAccountInfo(rpc, CLOCK, { commitment: 'confirmed' });
    if (value === null) throw new Error('The ledger has no Clock');
    const unixSeconds = unixSecondsOf(value);
    offsetMs = narrowed(offsetMs, unixSeconds, { askedMs, answeredMs: passedMs() });
    first.resolve();
    waiters.check();
    return unixSeconds;
  }

  /** With the next request, or alone when the interval is over. */
  function readWithNext(): Promise<bigint> {
    return new Promise((resolve, reject) => {
      const withinMs = intervalMs * (1 - APART_SHARE);
      giveUp = rpc.piggyback(() => void read().then(resolve, reject), withinMs);
    });
  }

  async function follow(): Promise<void> {
    for (let ask = read; !closing.signal.aborted; ask = readWithNext) {
      // The next reading makes up for a failed one.
      await ask().catch(() => undefined);
      await delay(intervalMs * APART_SHARE, closing.signal);
    }
  }

  void follow();
  return {
    nowMs,
    /** The Clock's unix_timestamp as last read, carried on with local time. */
    nowSeconds: (): bigint => BigInt(Math.floor(nowMs() / SECOND_MS)),
    read,
    /** Ledger time minus this machine's. */
    get offsetMs(): number {
      return offsetMs === undefined ? 0 : passedMs() + offsetMs - Date.now();
    },
    /** Whether the ledger was read once. Before, the clock shows this machine's time. */
    get isRead(): boolean {
      return offsetMs !== undefined;
    },
    waitUntil: waiters.waitUntil,
    /** Resolves with the first reading; rejects when the clock is closed before it. */
    ready: first.promise,
    close(): void {
      closing.abort();
      giveUp();
      first.reject(new Error('The ledger clock was closed before its first reading'));
    },
  };
}

/**
 * The offset after a reading. The Clock counts whole seconds, so a reading S says that the time was in
 * [S, S + 1) at a moment between question and answer. The offset moves only as far as that requires. So
 * it approaches the true one, never contradicts a reading, and is not moved by late answers.
 */
function narrowed(
  offsetMs: number | undefined,
  unixSeconds: bigint,
  { askedMs, answeredMs }: { askedMs: number; answeredMs: number },
): number {
  const ledgerMs = Number(unixSeconds) * SECOND_MS;
  const first = offsetMs ?? ledgerMs - (askedMs + answeredMs) / 2;
  const least = ledgerMs - answeredMs;
  const greatest = ledgerMs + SECOND_MS - 1 - askedMs;
  return Math.min(Math.max(first, least), greatest);
}

/** Waits for moments of a clock that may jump: `check` is called with each of its readings. */
function createWaiters(nowMs: () => number) {
  const waiting = new Set<() => void>();
  return {
    check(): void {
      for (const check of waiting) check();
    },
    /** Resolves when the ledger's time has reached `unixSeconds`, or when `signal` aborts. */
    async waitUntil(unixSeconds: bigint, signal?: AbortSignal): Promise<void> {
      const atMs = Number(unixSeconds) * SECOND_MS;
      const reached = withResolvers<void>();
      let timer: NodeJS.Timeout | undefined;
      const check = (): void => {
        clearTimeout(timer);
        const leftMs = atMs - nowMs();
        if (leftMs <= 0 || signal?.aborted) reached.resolve();
        else timer = setTimeout(check, Math.min(leftMs, RECHECK_MS_MAX));
      };
      waiting.add(check);
      signal?.addEventListener('abort', check, { once: true });
      check();
      await reached.promise;
      waiting.delete(check);
      signal?.removeEventListener('abort', check);
    },
  };
}
