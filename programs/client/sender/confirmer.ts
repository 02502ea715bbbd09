import { type Deferred, delay, withResolvers } from '../../../common/wait.ts';
import {
  getBlockHeight,
  getLatestBlockhash,
  getSignatureStatuses,
  type SignatureStatus,
  sendTransaction,
  type TransactionError,
} from '../rpc/methods.ts';
import type { LedgerNode } from '../rpc/rpc.ts';
import { LedgerUnavailableError, refusalOf, type SendResult } from './sendResult.ts';
import { createSignatureNotices, type SignatureNotice } from './signatureNotices.ts';

/** Recent enough for new transactions, old enough not to be lost with a fork. */
export const COMMITMENT = 'confirmed';

/** The commitments that decide a result; a processed block can still vanish. */
export type SenderCommitment = 'confirmed' | 'finalized';

/** A transaction that was passed on, or may have been. */
export interface SentTransaction {
  /** In base64. */
  readonly wire: string;
  readonly signature: string;
  readonly lastValidBlockHeight: number;
}

interface Flight extends SentTransaction {
  readonly end: Deferred<SendResult>;
  readonly sinceMs: number;
  sentMs: number;
}

/** A transaction that is being sent. */
interface Expected {
  readonly noticed: Deferred<void>;
  result?: SendResult;
}

const POLL_MS_MIN = 20;
const POLL_MS_MAX = 400;
/** A notice that is later may be lost. */
const NOTICE_SLOTS_MAX = 4;
const NOTICE_MS_MIN = 100;
const REPEAT_MS = 1_000;
const UNREACHABLE_MS_MAX = 30_000;
const CLOSED = 'The sender was closed';

/**
 * Watches everything in flight, and sends it again, until each transaction's fate is certain.
 *
 * With a websocket, its notices decide. Statuses are polled, about once a slot, for transactions whose
 * notice is late, and for all while the socket is away.
 *
 * @param options.repeatMs after which a transaction without a status is sent once more
 * @param options.pollMsMin the shortest pause between two questions for statuses
 * @param options.heightCommitment of the chain by whose height a blockhash is dead
 */
export function createConfirmer(options: {
  rpc: LedgerNode;
  wsUrl: string | undefined;
  commitment: SenderCommitment;
  repeatMs?: number | undefined;
  pollMsMin?: number;
  heightCommitment?: SenderCommitment;
}) {
  const { rpc, wsUrl, commitment, repeatMs = REPEAT_MS, pollMsMin = POLL_MS_MIN } = options;
  const { heightCommitment = COMMITMENT } = options;
  const flights = new Map<string, Flight>();
  const expected = new Map<string, Expected>();
  const notices =
    wsUrl === undefined ? undefined : createSignatureNotices({ wsUrl, commitment, onNotice });
  const closing = new AbortController();
  let running = false;
  let heightReadMs = 0;
  /** As long as a slot, within bounds: at first the lower one, so that the measure comes soon. */
  let slotMs = pollMsMin;
  let last: { slot: number; localMs: number } | undefined;

  function measureSlots(slot: number): void {
    const localMs = performance.now();
    if (last !== undefined && slot > last.slot) {
      const measuredMs = (localMs - last.localMs) / (slot - last.slot);
      slotMs = Math.min(POLL_MS_MAX, Math.max(pollMsMin, measuredMs));
    }
    if (slot !== last?.slot) last = { slot, localMs };
  }

  function settle(flight: Flight, result: SendResult): void {
    flights.delete(flight.signature);
    notices?.forget(flight.signature);
    flight.end.resolve(result);
  }

  function onNotice({ signature, slot, err }: SignatureNotice): void {
    const result = resultOf(signature, slot, err);
    const flight = flights.get(signature);
    if (flight) settle(flight, result);
    const early = expected.get(signature);
    if (!early) return;
    early.result = result;
    early.noticed.resolve();
  }

  function isDue({ signature, sinceMs }: Flight): boolean {
    if (!notices?.isWatched(signature)) return true;
    const noticeMs = Math.max(NOTICE_MS_MIN, NOTICE_SLOTS_MAX * slotMs);
    return performance.now() - sinceMs >= noticeMs;
  }

  function abandon(message: string, cause?: unknown): void {
    for (const flight of flights.values()) {
      const { signature } = flight;
      flights.delete(signature);
      notices?.forget(signature);
      flight.end.reject(new LedgerUnavailableError(message, { signature, cause }));
    }
  }

  function judge(flight: Flight, status: SignatureStatus | null | undefined): void {
    if (!status || !reached(status, commitment)) return;
    const { signature } = flight;
    if (notices?.isWatched(signature)) notices.missed();
    settle(flight, resultOf(signature, status.slot, status.err));
  }

  /** @param history whether all blocks are searched */
  async function read(watched: readonly Flight[], history: boolean) {
    const signatures = watched.map((flight) => flight.signature);
    const options = { searchTransactionHistory: history };
    const { slot, value } = await getSignatureStatuses(rpc, signatures, options);
    return { slot, statuses: watched.map((flight, index) => ({ flight, status: value[index] })) };
  }

  /** Past the last valid block height, a transaction has landed or never will. */
  async function expire(height: number, heightSlot: number): Promise<void> {
    const dead = [...flights.values()].filter((flight) => height > flight.lastValidBlockHeight);
    if (dead.length === 0) return;
    const { slot, statuses } = await read(dead, true);
    // Another node may have answered that is not as far. The next round asks again.
    if (slot < heightSlot) return;
    for (const { flight, status } of statuses) {
      const { signature, lastValidBlockHeight } = flight;
      if (status) judge(flight, status);
      else settle(flight, { status: 'expired', signature, lastValidBlockHeight, slot });
    }
  }

  function repeat(height: number): void {
    for (const flight of flights.values()) {
      if (height > flight.lastValidBlockHeight) continue;
      if (performance.now() - flight.sentMs < repeatMs) continue;
      flight.sentMs = performance.now();
      // The status decides, not the answer to a repeat.
      sendTransaction(rpc, flight.wire, { skipPreflight: true }).catch(() => undefined);
    }
  }

  async function round(): Promise<void> {
    const due = [...flights.values()].filter(isDue);
    if (due.length === 0) return;
    const { slot, statuses } = await read(due, false);
    measureSlots(slot);
    for (const { flight, status } of statuses) judge(flight, status);
    if (flights.size === 0 || performance.now() - heightReadMs < repeatMs) return;
    const { height, slot: heightSlot } = await getBlockHeight(rpc, {
      commitment: heightCommitment,
    });
    heightReadMs = performance.now();
    await expire(height, heightSlot);
    repeat(height);
  }

  async function run(): Promise<void> {
    let answeredMs = performance.now();
    let pauseMs = slotMs;
    heightReadMs = answeredMs;
    while (flights.size > 0) {
      await delay(pauseMs, closing.signal);
      try {
        await round();
        answeredMs = performance.now();
        pauseMs = slotMs;
      } catch (cause) {
        pauseMs = POLL_MS_MAX;
        const silent = performance.now() - answeredMs >= UNREACHABLE_MS_MAX;
        if (silent) abandon('The ledger stayed out of reach', cause);
      }
    }
    running = false;
  }

  return {
    /**
     * To be called just before the transaction is sent, so that no notice comes too early.
     *
     * @returns resolves with the first notice; then `confirm` returns at once
     */
    expect(signature: string): Promise<void> {
      const noticed = withResolvers<void>();
      if (!notices) return noticed.promise;
      expected.set(signature, { noticed });
      notices.watch(signature);
      return noticed.promise;
    },
    /** The transaction was not passed on after all. */
    forget(signature: string): void {
      expected.delete(signature);
      // Another caller may have sent the same transaction.
      if (!flights.has(signature)) notices?.forget(signature);
    },
    /**
     * @throws LedgerUnavailableError with the signature, when the ledger stays out of reach or the
     *   confirmer is closed: then the transaction's fate is not known
     */
    async confirm(sent: SentTransaction): Promise<SendResult> {
      const { signature } = sent;
      const early = expected.get(signature)?.result;
      expected.delete(signature);
      if (early) return early;
      if (closing.signal.aborted) throw new LedgerUnavailableError(CLOSED, { signature });
      // Two callers with the same instructions and blockhash have sent one transaction.
      const same = flights.get(signature);
      if (same !== undefined) return same.end.promise;
      const end = withResolvers<SendResult>();
      const nowMs = performance.now();
      flights.set(signature, { ...sent, end, sinceMs: nowMs, sentMs: nowMs });
      if (!running) {
        running = true;
        void run();
      }
      return end.promise;
    },
    close(): void {
      closing.abort();
      abandon(CLOSED);
      notices?.close();
    },
  };
}

function resultOf(signature: string, slot: number, err: TransactionError | null): SendResult {
  return err === null
    ? { status: 'landed', signature, slot }
    : { status: 'failed', signature, error: refusalOf(err), slot };
}

function reached(status: SignatureStatus, commitment: SenderCommitment): boolean {
  const { confirmationStatus } = status;
  return confirmationStatus === 'finalized' || confirmationStatus === commitment;
}

export interface Blockhash {
  readonly blockhash: string;
  readonly lastValidBlockHeight: number;
  readonly slot: number;
}

/** On the fastest ledger a blockhash lives for 3 s, and a transaction needs most of that. */
const FRESH_MS = 1_000;
const RETRY_DELAYS_MS = [100, 400];

/** Young blockhashes, fetched only while transactions are sent. */
export function createBlockhashes(rpc: LedgerNode) {
  let young: { value: Blockhash; untilMs: number } | undefined;
  let fetching: Promise<Blockhash> | undefined;

  async function fetch(): Promise<Blockhash> {
    const { slot, value: latest } = await withRetries(() =>
      getLatestBlockhash(rpc, { commitment: COMMITMENT }),
    );
    const value = { ...latest, slot };
    young = { value, untilMs: performance.now() + FRESH_MS };
    return value;
  }

  return {
    /** @throws LedgerUnavailableError when no node answers with one */
    async current(): Promise<Blockhash> {
      if (young !== undefined && performance.now() < young.untilMs) return young.value;
      fetching ??= fetch().finally(() => {
        fetching = undefined;
      });
      return fetching;
    },
    /** Drops a blockhash that the ledger does not know, or no longer. */
    forget(refused: Blockhash): void {
      if (young?.value.blockhash === refused.blockhash) young = undefined;
    },
  };
}

async function withRetries<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  for (const delayMs of RETRY_DELAYS_MS) {
    try {
      return await ask();
    } catch {
      await delay(delayMs);
    }
  }
  return ask().catch((cause: unknown) => {
    throw new LedgerUnavailableError('No node returned a blockhash', { signature: null, cause });
  });
}
