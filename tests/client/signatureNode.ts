import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

/** What a client asked over its socket, and what it heard of it. */
interface Subscription {
  readonly socket: WebSocket;
  readonly method: string;
  readonly params: readonly unknown[];
  /** Answers the question itself with the number of a subscription. */
  accept(subscription: number): void;
  /** How the transaction behind a subscription ended. */
  notify(subscription: number, end: { slot: number; err: unknown }): void;
}

/** A node's websocket over which a test reports how signatures ended. */
export interface SignatureNode {
  readonly url: string;
  /** Everything that was asked. */
  readonly asked: Subscription[];
  /** The next question. */
  next(): Promise<Subscription>;
  close(): Promise<void>;
}

export async function startSignatureNode(): Promise<SignatureNode> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const asked: Subscription[] = [];
  server.on('connection', (socket) => {
    const say = (message: object) => socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
    socket.on('message', (text) => {
      const { id, method, params } = JSON.parse(String(text));
      asked.push({
        socket,
        method,
        params,
        accept: (subscription) => say({ id, result: subscription }),
        notify: (subscription, { slot, err }) =>
          say({
            method: 'signatureNotification',
            params: { subscription, result: { context: { slot }, value: { err } } },
          }),
      });
      server.emit('asked');
    });
  });
  let taken = 0;
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async next() {
      while (asked.length === taken) await once(server, 'asked');
      return asked[taken++] as Subscription;
    },
    async close() {
      for (const socket of server.clients) socket.terminate();
      server.close();
      await once(server, 'close');
    },
  };
}
