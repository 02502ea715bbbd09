import { parentPort, workerData } from 'node:worker_threads';
import type { Target } from '../load.ts';
import { send } from './send.ts';

// The entry of a thread that sends bodies at once: the thread that measures has no part in it.

export interface Sending {
  target: Target;
  body: string;
  count: number;
}

const { target, body, count } = workerData as Sending;
const bytes = Buffer.from(body);
const statuses = await Promise.all(
  Array.from({ length: count }, () => send(target, 'POST', '/chat/completions', bytes)),
);
parentPort?.postMessage(statuses);
