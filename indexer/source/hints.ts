import type { PublicKey } from '@solana/web3.js';
import { LRUCache } from 'lru-cache';
import type { Logger } from '../../common/logger.ts';
import type { Commitment } from '../../common/net/commitment.ts';
import { delay } from '../../common/wait.ts';
import type { ListedTransaction } from './source.ts';

export type LedgerHints = ReturnType<typeof createLedgerHints>;

/** More than are named while one batch is applied. A sweep finds those beyond. */
const NAMED_MAX = 2_000;
const SEEN_MAX = 20_000;
/**
 * A transaction that moves no tokens waits so long for one that does. So a job's lock is mostly folded
 * with its settlement, in one round of statements.
 */
const LINGER_MS = 25;

/** A transaction that the ledger's stream has named. */
export interface NamedTransaction extends ListedTransaction {
  /** Whether it moves tokens: it settles jobs, or buys or withdraws credits. */
  readonly isPaying: boolean;
}

/** Transactions that others name before a sweep lists them. A sweep finds what no hint named. */
export function createLedgerHints() {
  const seen = new LRUCache<string, true>({ max: SEEN_MAX });
  const wakeUp = createWakeUp();
  let named: ListedTransaction[] = [];
  let isMore = false;
  let lingering: NodeJS.Timeout | undefined;

  function wake(): void {
    clearTimeout(lingering);
    lingering = undefined;
    wakeUp.wake();
  }

  return {
    /** The ledger's stream named a transaction. */
    name({ isPaying, ...transaction }: NamedTransaction): void {
      if (seen.has(transaction.signature)) return;
      seen.set(transaction.signature, true);
      if (named.length < NAMED_MAX) named.push(transaction);
      else isMore = true;
      if (isPaying) wake();
      else lingering ??= setTimeout(wake, LINGER_MS);
    },
    /** Something happened on the ledger, of which at most the signature is known. */
    hint(signature?: string): void {
      if (signature !== undefined && seen.has(signature)) return;
      isMore = true;
      wake();
    },
    /**
     * A sweep has stored these. Their notices, from before or to come, are passed over: one that is
     * stored already would send a whole batch through one by one.
     */
    stored(signatures: readonly string[]): void {
      for (const signature of signatures) seen.set(signature, true);
      if (named.length === 0) return;
      const done = new Set(signatures);
      named = named.filter(({ signature }) => !done.has(signature));
    },
    /** The ledger lost this one. If it lands after all, its notice counts again. */
    lost: (signature: string): void => void seen.delete(signature),
    /** The hints since the last call: named ones each once, in order, and whether there are others. */
    take(): { named: readonly ListedTransaction[]; isMore: boolean } {
      const taken = { named, isMore };
      named = [];
      isMore = false;
      return taken;
    },
    wait: wakeUp.wait,
  };
}

/** Calls of `wake` before the next `wait` count as one. */
export function createWakeUp() {
  let woken = new AbortController();
  return {
    wake: () => woken.abort(),
    /** Returns after a call of `wake`, after `timeoutMs`, or when `signal` aborts. */
    async wait(timeoutMs: number, signal: AbortSignal): Promise<void> {
      await delay(timeoutMs, AbortSignal.any([woken.signal, signal]));
      woken = new AbortController();
    },
  };
}

export type LogSubscription = ReturnType<typeof createLogSubscription>;

const REOPEN_MS = 1_000;

/**
 * Subscribes to the program's logs, over the node's websocket. On any error, it reconnects: a hint
 * only says what there may be to read, so a broken stream costs a fraction of a second.
 *
 * @param options.onHint called with each transaction, and with none for any other message
 * @param options.reopenMs between the end of a stream and the next
 */
export function createLogSubscription(options: {
  url: string;
  programId: PublicKey;
  commitment: Commitment;
  logger: Logger;
  onHint: (transaction?: NamedTransaction) => void;
  reopenMs?: number;
}) {
  const { url, programId, commitment, logger, onHint, reopenMs = REOPEN_MS } = options;
  const subscription = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'logsSubscribe',
    params: [{ mentions: [programId.toBase58()] }, { commitment }],
  });
  const watchdog = createStreamWatchdog(() => performance.now());
  let timer: NodeJS.Timeout | undefined;
  let socket = open();

  function open(): WebSocket {
    const opened = new WebSocket(url);
    opened.onopen = () => opened.send(subscription);
    opened.onmessage = ({ data }) => {
      watchdog.received();
      onHint(namedIn(String(data)));
    };
    opened.onclose = reopen;
    return opened;
  }

  /** Also called while another call waits, since sweeps find something while the stream is down. */
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
    /** A sweep found something. A stream that did not name it may be dead, and is replaced. */
    found(): void {
      if (!watchdog.found()) return;
      logger.warn({ msg: 'Reopened a stream that had not announced what a sweep found' });
      abandon();
      reopen();
    },
    close(): void {
      clearTimeout(timer);
      abandon();
    },
  };
}

/** As much of a message of the ledger's as is read here. */
interface LogsMessage {
  readonly method?: unknown;
  readonly params?: {
    readonly result: {
      readonly context: { readonly slot: number };
      readonly value: {
        readonly signature: string;
        readonly err: unknown;
        readonly logs: readonly string[] | null;
      };
    };
  };
}

/** The transaction that a message is about; undefined for any other message. */
function namedIn(text: string): NamedTransaction | undefined {
  const { method, params } = JSON.parse(text) as LogsMessage;
  if (method !== 'logsNotification' || !params) return undefined;
  const { context, value } = params.result;
  return {
    signature: value.signature,
    slot: BigInt(context.slot),
    failed: value.err !== null,
    isPaying: value.logs?.some((line) => TOKEN_CALL.test(line)) ?? true,
  };
}

/** The log of a call of the token program, or of its successor. Without logs, it may be one. */
const TOKEN_CALL = /^Program Token\w+ invoke/;

/** How long the stream may send nothing while sweeps find something. */
const SILENCE_MS_MAX = 60_000;

/**
 * Finds out that a stream no longer names what it should.
 *
 * The minute begins with a find after a minute without a message: a sweep may be a moment faster
 * than the stream. A stream that was replaced gets both minutes again.
 */
export function createStreamWatchdog(nowMs: () => number) {
  let receivedMs = nowMs();
  let missedSinceMs: number | undefined;
  return {
    /** The stream sent a message. */
    received(): void {
      receivedMs = nowMs();
      missedSinceMs = undefined;
    },
    /** A sweep found something. @returns whether the stream is to be replaced */
    found(): boolean {
      const now = nowMs();
      if (now - receivedMs < SILENCE_MS_MAX) return false;
      missedSinceMs ??= now;
      if (now - missedSinceMs < SILENCE_MS_MAX) return false;
      receivedMs = now;
      missedSinceMs = undefined;
      return true;
    },
  };
}
