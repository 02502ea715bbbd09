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

/**
 * Holding the engine back while the socket is full is the bound on buffering: one event and the
 * socket's own buffer are kept, never the answer.
 *
 * @param signal ends the wait for a receiver that has gone or that reads too slowly
 */
export function createEventStream(response: ServerResponse, signal: AbortSignal): EventStream {
  let isGathering = false;

  /** What is sent in one turn leaves together. */
  function gather(): void {
    if (isGathering) return;
    isGathering = true;
    response.cork();
    process.nextTick(release);
  }

  function release(): void {
    if (!isGathering) return;
    isGathering = false;
    response.uncork();
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
      gather();
      const hasRoom = response.write(`data: ${JSON.stringify(data)}\n\n`);
      if (!hasRoom) await once(response, 'drain', { signal });
    },
    end(event, data) {
      release();
      response.end(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    },
  };
}
