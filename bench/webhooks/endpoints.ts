import { type Receiver, startReceiver } from '../../testing/indexer/receiver.ts';

/** A request that arrived at an answering endpoint. */
export interface Arrival {
  readonly atMs: number;
  readonly body: string;
}

export type Endpoints = Awaited<ReturnType<typeof openEndpoints>>;

/**
 * Clients' endpoints.
 *
 * @param dead the number of endpoints that accept everything and never answer
 * @param aside the number of those behind them that answer and are not counted
 */
export async function openEndpoints(count: number, dead: number, aside = 0) {
  const receivers: Receiver[] = [];
  const arrivals: Arrival[] = [];
  for (let index = 0; index < count; index += 1) {
    const receiver = await startReceiver();
    receivers.push(receiver);
    receiver.answer = (response, { body }) => {
      if (index < dead) return;
      if (index >= dead + aside) arrivals.push({ atMs: performance.now(), body });
      response.end();
    };
  }
  return {
    urls: receivers.map(({ url }) => url),
    /** The number of answering endpoints that are counted. */
    alive: count - dead - aside,
    /** The requests at these, in order of arrival. */
    arrivals: arrivals as readonly Arrival[],
    async close(): Promise<void> {
      for (const receiver of receivers) await receiver.close();
    },
  };
}
