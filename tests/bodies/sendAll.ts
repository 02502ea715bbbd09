import { once } from 'node:events';
import { request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';
import type { Target } from '../../bench/load.ts';

// The entry of a thread that sends a body on many connections, again and again until it is to end. So
// the sending takes no time of the thread that measures.

export interface Sending {
  target: Target;
  body: string;
  connections: number;
}

/** Of its own, where the system has several: bursts are limited by the address. */
const ADDRESS = process.platform === 'linux' ? { localAddress: '127.0.0.2' } : {};
const { target, body, connections } = workerData as Sending;
const bytes = Buffer.from(body);
const statuses: number[] = [];
let isOver = false;
parentPort?.once('message', () => {
  isOver = true;
});
parentPort?.postMessage('ready');
await Promise.all(
  Array.from({ length: connections }, async () => {
    // An answer that is lost with its connection counts as 0.
    while (!isOver) statuses.push(await send().catch(() => 0));
  }),
);
parentPort?.postMessage(statuses);

/** @returns the answer's status */
async function send(): Promise<number> {
  const sent = request(`${target.url}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${target.apiKey}` },
    ...ADDRESS,
  });
  // The connection may end behind an answer that came before the whole body was sent.
  sent.on('error', () => undefined);
  sent.end(bytes);
  const [response] = await once(sent, 'response');
  response.resume();
  await once(response, 'end');
  return response.statusCode;
}
