import { once } from 'node:events';
import WebSocket from 'ws';

interface Message {
  id?: number;
  result?: unknown;
  error?: { code: number; message: string };
  method?: string;
  params?: { result: unknown; subscription: number };
}

export type Socket = Awaited<ReturnType<typeof openSocket>>;

/** A websocket to a ledger's node, and what it hears. */
export async function openSocket(url: string) {
  const client = new WebSocket(url);
  const messages: Message[] = [];
  let heard = Promise.withResolvers<void>();
  client.on('message', (data) => {
    messages.push(JSON.parse(String(data)));
    heard.resolve();
    heard = Promise.withResolvers();
  });
  await once(client, 'open');
  let lastId = 0;

  async function take(isWanted: (message: Message) => boolean): Promise<Message> {
    for (;;) {
      const index = messages.findIndex(isWanted);
      if (index >= 0) return messages.splice(index, 1)[0] as Message;
      await heard.promise;
    }
  }

  return {
    client,
    /** Sends a call. @returns its answer */
    ask(method: string, ...params: unknown[]): Promise<Message> {
      const id = ++lastId;
      client.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
      return take((message) => message.id === id);
    },
    /** Its next notification, or that of a kind that has these words. */
    next: (kind?: string, words = '') =>
      take(({ method, params }) =>
        kind === undefined
          ? method !== undefined
          : method === `${kind}Notification` && JSON.stringify(params).includes(words),
      ),
  };
}
