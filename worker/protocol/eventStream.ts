import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/** The response of one job as server-sent events; nothing is sent before the first event. */
export interface EventStream {
  readonly isOpen: boolean;
  /** Sends one event and waits while the receiver reads more slowly than we write. */
  send(data: object): Promise<void>;
  /** Sends the last event, under its own name, and ends the response. */
  end(event: 'proof' | 'error', data: object): void;
}

/** Events of one turn leave together, up to so many characters: each alone would cost as much. */
const GATHERED_MAX = 16_384;

/**
 * Holding the engine back while the socket is full is the bound on buffering: what was gathered and
 * the socket's own buffer are kept, never the answer.
 *
 * @param signal ends the wait for a receiver that has gone or that reads too slowly
 */
export function createEventStream(response: ServerResponse, signal: AbortSignal): EventStream {
  let gathered = '';
  let hasRoom = true;

  function flush(): void {
    if (gathered === '') return;
    hasRoom = response.write(gathered);
    gathered = '';
  }

  return {
    get isOpen() {
      return response.headersSent;
    },
    async send(data) {
      if (!response.headersSent) {
        response.writeHead(200, {
          'content-type': 'text/event-stream; charset=utf-8',
          'cache-control': 'no-cache, no-transform',
          'x-accel-buffering': 'no',
        });
      }
      if (gathered === '') process.nextTick(flush);
      gathered += `data: ${JSON.stringify(data)}\n\n`;
      if (gathered.length >= GATHERED_MAX) flush();
      if (hasRoom) return;
      await once(response, 'drain', { signal });
      hasRoom = true;
    },
    end(event, data) {
      flush();
      response.end(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    },
  };
}
