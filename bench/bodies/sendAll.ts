import { parentPort, workerData } from 'node:worker_threads';
import type { Target } from '../load.ts';
import { send } from './send.ts';

// The entry of a thread that sends many bodies at a time, again and again until it is to end. So the
// sending takes no time of the thread that measures.

export interface Sending {
  target: Target;
  body: string;
  count: number;
}

/** Of its own, where the system has several: bursts are limited by the address. */
const ADDRESS = process.platform === 'linux' ? '127.0.0.2' : undefined;
const { target, body, count } = workerData as Sending;
const bytes = Buffer.from(body);
const statuses: number[] = [];
let isOver = false;
parentPort?.once('message', () => {
  isOver = true;
});
parentPort?.postMessage('ready');
await Promise.all(
  Array.from({ length: count }, async () => {
    while (!isOver) {
      // A connection that was ended early counts as an answer, too.
      statuses.push(await send(target, 'POST', '/chat/completions', bytes, ADDRESS).catch(() => 0));
    }
  }),
);
parentPort?.postMessage(statuses);
