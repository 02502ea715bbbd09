import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { eventData } from '../../common/format.ts';
import { unlessAborted } from '../../common/wait.ts';

export type EventStream = ReturnType<typeof createEventStream>;

/** Events of one turn of the loop share a write, up to this many characters. */
const BATCH_CHARACTERS_MAX = 16_384;
const ALIVE_INTERVAL_MS = 1_000;

/**
 * The response of one job as server-sent events; nothing is sent before the first event.
 *
 * The engine pauses while the socket is full. So only one batch and the socket's buffer are in
 * memory, never the whole answer.
 *
 * @param signal ends the wait for a receiver that disconnected or reads too slowly
 */
export function createEventStream(response: ServerResponse, signal: AbortSignal) {
  let batch = '';
  let hasSpace = true;
  let aliveAtMs = Number.NEGATIVE_INFINITY;

  function flush(): void {
    if (batch === '') return;
    hasSpace = response.write(batch);
    batch = '';
  }

  async function write(event: string): Promise<void> {
    if (!response.headersSent) {
      response.writeHead(200, {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-cache, no-transform',
        'x-accel-buffering': 'no',
      });
    }
    if (batch === '') process.nextTick(flush);
    batch += event;
    if (batch.length >= BATCH_CHARACTERS_MAX) flush();
    if (hasSpace) return;
    await once(response, 'drain', { signal });
    hasSpace = true;
  }

  return {
    get isOpen(): boolean {
      return response.headersSent;
    },
    /** Sends one event, its data on one line, and waits while the socket's buffer is full. */
    send: (data: string): Promise<void> => write(`data: ${data}\n\n`),
    /** Sends a sign that the model works; at most once a second. */
    async alive(): Promise<void> {
      const nowMs = performance.now();
      if (nowMs - aliveAtMs < ALIVE_INTERVAL_MS) return;
      aliveAtMs = nowMs;
      await write('event: alive\ndata: {}\n\n');
    },
    /** Sends the last event, under its own name, waits until it is sent, and ends the response. */
    async end(event: 'proof' | 'error', data: object): Promise<void> {
      flush();
      const sent = new Promise<unknown>((resolve) => {
        response.write(`event: ${event}\ndata: ${eventData(data)}\n\n`, resolve);
      });
      // A closing server destroys a response that has ended, with what waits in its socket.
      await unlessAborted(signal, sent).catch(() => undefined);
      response.end();
    },
  };
}
