import { type Receiver, startReceiver } from '../../testing/indexer/receiver.ts';

/** A request that arrived at an answering endpoint. */
export interface Arrival {
  readonly atMs: number;
  readonly body: string;
}

/** Clients' endpoints. */
export interface Endpoints {
  readonly urls: readonly string[];
  /** The number of answering endpoints that are counted. */
  readonly alive: number;
  /** The requests at these, in order of arrival. */
  readonly arrivals: readonly Arrival[];
  close(): Promise<void>;
}

/**
 * @param dead the number of endpoints that accept everything and never answer
 * @param aside the number of those behind them that answer and are not counted
 */
export async function openEndpoints(count: number, dead: number, aside = 0): Promise<Endpoints> {
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
    alive: count - dead - aside,
    arrivals,
    async close() {
      for (const receiver of receivers) await receiver.close();
    },
  };
}
