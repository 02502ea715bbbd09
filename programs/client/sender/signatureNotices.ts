import { errorOf, fieldsOf, numberOf, type TransactionError } from '../rpc/methods.ts';

/** How a transaction ended, as of a slot: it landed there or before. */
export interface SignatureNotice {
  readonly signature: string;
  readonly slot: number;
  readonly err: TransactionError | null;
}

/** Without a socket the sender polls, so reopening can wait. */
const REOPEN_MS_MIN = 250;
const REOPEN_MS_MAX = 5_000;
/** A socket that brings nothing for so long, while polling finds statuses, counts as lost. */
const SILENCE_MS_MAX = 10_000;

/**
 * Subscribes to signatures over one socket, opened when first needed and again whenever it is lost.
 * Each subscription ends with its notice, or when it is forgotten. Any notice may be lost.
 *
 * @throws Error where the runtime has no WebSocket, such as Node 20
 */
export function createSignatureNotices(options: {
  wsUrl: string;
  commitment: string;
  onNotice: (notice: SignatureNotice) => void;
}) {
  const { wsUrl, commitment, onNotice } = options;
  if (!('WebSocket' in globalThis)) {
    throw new Error(
      'wsUrl needs the WebSocket of Node 22 or a browser. Without it the sender polls.',
    );
  }
  /** Signatures and their subscriptions, once a node has confirmed those. */
  const watched = new Map<string, number | undefined>();
  const signatures = new Map<number, string>();
  /** Requests for a subscription that are not answered yet. */
  const asked = new Map<number, string>();
  /** Notices that came before the answer to their subscription. */
  const early = new Map<number, unknown>();
  let socket: WebSocket | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let reopenMs = REOPEN_MS_MIN;
  let receivedMs = performance.now();
  let requests = 0;
  let closed = false;

  function send(method: string, params: readonly unknown[]): number {
    requests += 1;
    socket?.send(JSON.stringify({ jsonrpc: '2.0', id: requests, method, params }));
    return requests;
  }

  function subscribe(signature: string): void {
    asked.set(send('signatureSubscribe', [signature, { commitment }]), signature);
  }

  function subscribed(id: number, subscription: number): void {
    const signature = asked.get(id);
    asked.delete(id);
    if (signature === undefined) return;
    if (!watched.has(signature)) {
      send('signatureUnsubscribe', [subscription]);
      return;
    }
    watched.set(signature, subscription);
    signatures.set(subscription, signature);
    if (early.has(subscription)) notified(subscription, early.get(subscription));
    if (asked.size === 0) early.clear();
  }

  function notified(subscription: number, result: unknown): void {
    const signature = signatures.get(subscription);
    if (signature === undefined) {
      if (asked.size > 0) early.set(subscription, result);
      return;
    }
    signatures.delete(subscription);
    watched.delete(signature);
    const { context, value } = fieldsOf(result);
    const { err } = fieldsOf(value);
    onNotice({ signature, slot: numberOf(fieldsOf(context).slot), err: errorOf(err) });
  }

  function receive(text: string): void {
    receivedMs = performance.now();
    reopenMs = REOPEN_MS_MIN;
    const { id, result, method, params } = fieldsOf(JSON.parse(text));
    if (method === 'signatureNotification') {
      const { subscription, result: notice } = fieldsOf(params);
      notified(numberOf(subscription), notice);
    } else if (typeof id === 'number') {
      if (typeof result === 'number') subscribed(id, result);
      // A refused subscription leaves its signature to polling.
      else asked.delete(id);
    }
  }

  function abandon(): void {
    clearTimeout(timer);
    timer = undefined;
    if (socket) Object.assign(socket, { onopen: null, onmessage: null, onclose: null });
    socket?.close();
    socket = undefined;
    for (const map of [signatures, asked, early]) map.clear();
    for (const signature of watched.keys()) watched.set(signature, undefined);
  }

  function connect(): void {
    abandon();
    receivedMs = performance.now();
    const opened = new WebSocket(wsUrl);
    socket = opened;
    opened.onopen = () => {
      for (const signature of watched.keys()) subscribe(signature);
    };
    opened.onmessage = ({ data }) => {
      try {
        receive(String(data));
      } catch {
        // Ignore it: polling finds the status.
      }
    };
    opened.onclose = () => {
      abandon();
      timer = setTimeout(connect, reopenMs);
      reopenMs = Math.min(2 * reopenMs, REOPEN_MS_MAX);
    };
  }

  return {
    /** Best called before the transaction is sent: a node reports what it sees from then on. */
    watch(signature: string): void {
      if (closed || watched.has(signature)) return;
      watched.set(signature, undefined);
      if (socket?.readyState === WebSocket.OPEN) subscribe(signature);
      else if (!socket && !timer) connect();
    },
    /** Whether a node has confirmed the subscription. */
    isWatched: (signature: string) => watched.get(signature) !== undefined,
    forget(signature: string): void {
      const subscription = watched.get(signature);
      watched.delete(signature);
      if (subscription === undefined) return;
      signatures.delete(subscription);
      send('signatureUnsubscribe', [subscription]);
    },
    /** Polling found a status whose notice should have come. */
    missed(): void {
      if (socket && performance.now() - receivedMs >= SILENCE_MS_MAX) connect();
    },
    close(): void {
      closed = true;
      abandon();
    },
  };
}
