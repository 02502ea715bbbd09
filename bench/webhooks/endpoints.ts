import { type Receiver, startReceiver } from '../../testing/indexer/receiver.ts';

/** A request as it arrived at an endpoint that answers. */
export interface Arrival {
  readonly atMs: number;
  readonly body: string;
}

/** Clients' endpoints. */
export interface Endpoints {
  readonly urls: readonly string[];
  /** How many of them answer. */
  readonly alive: number;
  /** At all of them that answer, in their order. */
  readonly arrivals: readonly Arrival[];
  close(): Promise<void>;
}

/** @param dead how many accept everything and never answer */
export async function openEndpoints(count: number, dead: number): Promise<Endpoints> {
  const receivers: Receiver[] = [];
  const arrivals: Arrival[] = [];
  for (let index = 0; index < count; index += 1) {
    const receiver = await startReceiver();
    receivers.push(receiver);
    receiver.answer = (response, { body }) => {
      if (index < dead) return;
      arrivals.push({ atMs: performance.now(), body });
      response.end();
    };
  }
  return {
    urls: receivers.map(({ url }) => url),
    alive: count - dead,
    arrivals,
    async close() {
      for (const receiver of receivers) await receiver.close();
    },
  };
}
