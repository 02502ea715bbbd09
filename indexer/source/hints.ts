import type { PublicKey } from '@solana/web3.js';
import { LRUCache } from 'lru-cache';
import type { Logger } from '../../common/logger.ts';
import type { Commitment } from '../../common/net/commitment.ts';
import { delay } from '../../common/wait.ts';
import type { ListedTransaction } from './source.ts';

/** Hints that come while nobody waits are kept as one. */
interface WakeUp {
  wake(): void;
  /** Returns at the next hint, after `timeoutMs`, or when `signal` aborts. */
  wait(timeoutMs: number, signal: AbortSignal): Promise<void>;
}

export function createWakeUp(): WakeUp {
  let hint = new AbortController();
  return {
    wake: () => hint.abort(),
    async wait(timeoutMs, signal) {
      await delay(timeoutMs, AbortSignal.any([hint.signal, signal]));
      hint = new AbortController();
    },
  };
}

/** Notices that a stream of hints no longer says what there is to say. */
export interface Silence {
  /** The stream said something. */
  announced(): void;
  /** A sweep found something. @returns whether the stream is to be replaced */
  found(): boolean;
}

/** How long the stream may say nothing while sweeps find something. */
const SILENCE_MS_MAX = 60_000;

/**
 * The clock starts with a find of which nothing was said for a minute before, since a sweep may be
 * a moment faster than the stream; and a stream that was replaced has its minute again.
 */
export function createSilence(nowMs: () => number): Silence {
  let announcedMs = nowMs();
  let unannouncedSinceMs: number | undefined;
  return {
    announced() {
      announcedMs = nowMs();
      unannouncedSinceMs = undefined;
    },
    found() {
      const now = nowMs();
      if (now - announcedMs < SILENCE_MS_MAX) return false;
      unannouncedSinceMs ??= now;
      if (now - unannouncedSinceMs < SILENCE_MS_MAX) return false;
      announcedMs = now;
      unannouncedSinceMs = undefined;
      return true;
    },
  };
}

/** The ledger's own announcements of the program's transactions, over its websocket. */
export interface LogHints {
  /** To be told when a sweep found something: a stream that did not announce it may be dead. */
  found(): void;
  close(): void;
}

const REOPEN_MS = 1_000;

/** As much of a message of the ledger's as is read here. */
interface LogsMessage {
  readonly method?: unknown;
  readonly params?: {
    readonly result: {
      readonly context: { readonly slot: number };
      readonly value: { readonly signature: string; readonly err: unknown };
    };
  };
}

/**
 * A hint only says what there may be to read, so nothing is lost with the stream but a fraction of a
 * second. Hence no error here is worth more than opening it again.
 *
 * @param options.onHint told of each transaction; of none when the stream says something else
 * @param options.reopenMs between the end of a stream and the next
 */
export function createLogHints(options: {
  url: string;
  programId: PublicKey;
  commitment: Commitment;
  logger: Logger;
  onHint: (transaction?: ListedTransaction) => void;
  reopenMs?: number;
}): LogHints {
  const { url, programId, commitment, logger, onHint, reopenMs = REOPEN_MS } = options;
  const subscription = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'logsSubscribe',
    params: [{ mentions: [programId.toBase58()] }, { commitment }],
  });
  const silence = createSilence(() => performance.now());
  let timer: NodeJS.Timeout | undefined;
  let socket = open();

  function open(): WebSocket {
    const opened = new WebSocket(url);
    opened.onopen = () => opened.send(subscription);
    opened.onmessage = ({ data }) => {
      silence.announced();
      onHint(namedIn(String(data)));
    };
    opened.onclose = reopen;
    return opened;
  }

  /** Sweeps find something also while the stream is down: one that is to be opened is enough. */
  function reopen(): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      socket = open();
    }, reopenMs);
  }

  function abandon(): void {
    socket.onmessage = null;
    socket.onclose = null;
    socket.close();
  }

  return {
    found() {
      if (!silence.found()) return;
      logger.warn({ msg: 'Reopened a stream that had not announced what a sweep found' });
      abandon();
      reopen();
    },
    close() {
      clearTimeout(timer);
      abandon();
    },
  };
}

/** The transaction that a message is about; undefined for any other message. */
function namedIn(text: string): ListedTransaction | undefined {
  const { method, params } = JSON.parse(text) as LogsMessage;
  if (method !== 'logsNotification' || !params) return undefined;
  const { context, value } = params.result;
  return { signature: value.signature, slot: BigInt(context.slot), failed: value.err !== null };
}

/** What others say has happened on the ledger: only ever a hint, which a sweep makes up for. */
export interface Announcements {
  /** A transaction was named, by the ledger's stream. */
  name(transaction: ListedTransaction): void;
  /** Something happened; somebody who knows only its signature, or not even that, says so. */
  hint(signature?: string): void;
  /** What has been said since this was asked last. */
  take(): Announced;
  /** Returns when something has been said, after `timeoutMs`, or when `signal` aborts. */
  wait(timeoutMs: number, signal: AbortSignal): Promise<void>;
}

interface Announced {
  /** Each once, in the order in which they were named. */
  readonly named: readonly ListedTransaction[];
  /** Whether something happened that was not named. */
  readonly isMore: boolean;
}

/** More than are named while one batch is applied; of what is beyond, a sweep hears. */
const NAMED_MAX = 2_000;
const SEEN_MAX = 20_000;

export function createAnnouncements(): Announcements {
  const seen = new LRUCache<string, true>({ max: SEEN_MAX });
  const wakeUp = createWakeUp();
  let named: ListedTransaction[] = [];
  let isMore = false;

  return {
    name(transaction) {
      if (seen.has(transaction.signature)) return;
      seen.set(transaction.signature, true);
      if (named.length < NAMED_MAX) named.push(transaction);
      else isMore = true;
      wakeUp.wake();
    },
    hint(signature) {
      if (signature !== undefined && seen.has(signature)) return;
      isMore = true;
      wakeUp.wake();
    },
    take() {
      const taken = { named, isMore };
      named = [];
      isMore = false;
      return taken;
    },
    wait: wakeUp.wait,
  };
}
