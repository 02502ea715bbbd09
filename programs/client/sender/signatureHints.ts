/** Tells over a websocket that a status is worth reading now. Only ever a hint. */
export interface SignatureHints {
  watch(signature: string): void;
  close(): void;
}

/** Without its socket the sender polls as usual, so there is no hurry to have one. */
const RETRY_MS = 5_000;

/**
 * Subscribes to signatures over one socket, opened when first needed. Each subscription ends with
 * its notification; that of a transaction which never lands lasts as long as the socket.
 *
 * @param options.onHint called with every notification, whichever signature it concerns
 */
export function createSignatureHints(options: {
  wsUrl: string;
  commitment: string;
  onHint: () => void;
}): SignatureHints {
  const { wsUrl, commitment, onHint } = options;
  let socket: WebSocket | undefined;
  let openedMs = Number.NEGATIVE_INFINITY;
  let requests = 0;

  function current(): WebSocket | undefined {
    const usable = socket !== undefined && socket.readyState <= WebSocket.OPEN;
    if (usable || performance.now() - openedMs < RETRY_MS) return usable ? socket : undefined;
    openedMs = performance.now();
    socket = new WebSocket(wsUrl);
    socket.addEventListener('message', ({ data }) => {
      if (String(data).includes('"signatureNotification"')) onHint();
    });
    return socket;
  }

  return {
    watch(signature) {
      const target = current();
      requests += 1;
      const request = JSON.stringify({
        ...{ jsonrpc: '2.0', id: requests, method: 'signatureSubscribe' },
        params: [signature, { commitment }],
      });
      if (target?.readyState === WebSocket.OPEN) target.send(request);
      else target?.addEventListener('open', () => target.send(request), { once: true });
    },
    close: () => socket?.close(),
  };
}
