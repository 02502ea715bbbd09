import { type Connection, SYSVAR_CLOCK_PUBKEY } from '@solana/web3.js';
import { delay } from '../../../runtime/wait.ts';
import { unixSecondsOf } from '../clockAccount.ts';
import { answered } from './answered.ts';
import { createSlotPace } from './slotPace.ts';

/** The ledger's time, by which every deadline of a job is judged. */
export interface LedgerClock {
  /** The ledger's Unix time in milliseconds; between two readings it runs with local time. */
  nowMs(): number;
  /** The Clock's unix_timestamp as last read, carried on with local time. */
  nowSeconds(): bigint;
  /** The Clock's unix_timestamp, read now. @throws when the ledger cannot be reached */
  read(): Promise<bigint>;
  /** Ledger time minus this machine's. */
  readonly offsetMs: number;
  /** Resolves when the ledger's time has reached `unixSeconds`, or when `signal` aborts. */
  waitUntil(unixSeconds: bigint, signal?: AbortSignal): Promise<void>;
  /** Whether the ledger was read once: before, what is told is this machine's time. */
  readonly isRead: boolean;
  /** Resolves with the first reading; rejects when the clock is closed before it. */
  readonly ready: Promise<void>;
  close(): void;
}

/** Faster than the shortest slots, a reading would show nothing new worth its cost. */
const INTERVAL_MS_MIN = 50;
/** Far below what a timer can hold. */
const RECHECK_MS_MAX = 60_000;
const SECOND_MS = 1_000;

/** Milliseconds since this process began. */
const passedMs = (): number => performance.now();

/**
 * Follows the ledger's Clock by reading it about once a slot; a jump shows with the next reading.
 *
 * The Clock counts whole seconds, so a reading S says that the time is in [S, S + 1). The offset
 * moves only as far as a reading forces it: it closes in on the true one and never contradicts
 * what was read. While the ledger cannot be reached, time runs on as it passes here: a clock of this
 * machine that is set meanwhile changes no deadline.
 *
 * @param options.intervalMs the longest time between two readings
 */
export function createLedgerClock(options: {
  connection: Connection;
  intervalMs?: number;
}): LedgerClock {
  const { connection, intervalMs = 400 } = options;
  const pace = createSlotPace({ minMs: Math.min(INTERVAL_MS_MIN, intervalMs), maxMs: intervalMs });
  const closing = new AbortController();
  const first = Promise.withResolvers<void>();
  const waiters = new Set<() => void>();
  let offsetMs: number | undefined;
  // Whoever awaits `ready` gets the rejection; nobody has to.
  first.promise.catch(() => undefined);

  const nowMs = (): number =>
    Math.floor(offsetMs === undefined ? Date.now() : passedMs() + offsetMs);

  async function read(): Promise<bigint> {
    const askedMs = passedMs();
    const { context, value } = await answered(
      connection.getAccountInfoAndContext(SYSVAR_CLOCK_PUBKEY, 'confirmed'),
    );
    if (value === null) throw new Error('The ledger has no Clock');
    const localMs = (askedMs + passedMs()) / 2;
    pace.observe(context.slot, localMs);
    const unixSeconds = unixSecondsOf(value);
    const lowest = Number(unixSeconds) * SECOND_MS - localMs;
    offsetMs = Math.min(Math.max(offsetMs ?? lowest, lowest), lowest + SECOND_MS - 1);
    first.resolve();
    return unixSeconds;
  }

  async function follow(): Promise<void> {
    while (!closing.signal.aborted) {
      // A failed reading is made up for by the next one.
      await read().catch(() => undefined);
      for (const check of waiters) check();
      await delay(pace.intervalMs, closing.signal);
    }
  }

  void follow();
  return {
    nowMs,
    nowSeconds: () => BigInt(Math.floor(nowMs() / SECOND_MS)),
    read,
    get offsetMs() {
      return offsetMs === undefined ? 0 : passedMs() + offsetMs - Date.now();
    },
    get isRead() {
      return offsetMs !== undefined;
    },
    async waitUntil(unixSeconds, signal) {
      const atMs = Number(unixSeconds) * SECOND_MS;
      const reached = Promise.withResolvers<void>();
      let timer: NodeJS.Timeout | undefined;
      const check = (): void => {
        clearTimeout(timer);
        const leftMs = atMs - nowMs();
        if (leftMs <= 0 || signal?.aborted) reached.resolve();
        else timer = setTimeout(check, Math.min(leftMs, RECHECK_MS_MAX));
      };
      waiters.add(check);
      signal?.addEventListener('abort', check, { once: true });
      check();
      await reached.promise;
      waiters.delete(check);
      signal?.removeEventListener('abort', check);
    },
    ready: first.promise,
    close() {
      closing.abort();
      first.reject(new Error('The ledger clock was closed before its first reading'));
    },
  };
}
