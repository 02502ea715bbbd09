import { once } from 'node:events';
import { extname } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { startLimitedThread } from '../../common/contracts/limitedThread.ts';
import type { SchemaToMeet } from './schemaThread.ts';

/** No value was found within the bounds, or none meets the schema. */
export class SchemaRefusedError extends Error {
  override name = 'SchemaRefusedError';
}

// Source or compiled, as this file is.
const THREAD = new URL(`./schemaThread${extname(import.meta.filename)}`, import.meta.url);

/**
 * JSON of a value that meets a JSON Schema, by the rules of 2020-12. A format only describes, and a
 * reference to another document is never followed. Equal schemas and seeds give equal text.
 *
 * A thread of its own does the work and ends with it, so nothing of a schema outlives its request.
 *
 * @param request.seed an integer from 0 on
 * @param options.msMax how long the search may take, once the thread has started
 * @throws SchemaRefusedError
 * @throws the signal's reason once it aborts
 */
export async function schemaValue(
  request: SchemaToMeet,
  { msMax, signal }: { msMax: number; signal: AbortSignal },
): Promise<string> {
  let thread: Worker | undefined;
  try {
    thread = await startLimitedThread(THREAD, signal);
    const text = await answerOf(thread, {
      request,
      limit: AbortSignal.any([signal, AbortSignal.timeout(msMax)]),
    });
    if (text !== undefined) return text;
    throw new SchemaRefusedError('no value was found');
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    await thread?.terminate();
  }
}

/** Any failure from here on is the schema's: the thread has started. */
async function answerOf(
  thread: Worker,
  { request, limit }: { request: SchemaToMeet; limit: AbortSignal },
): Promise<string | undefined> {
  try {
    thread.postMessage(request);
    const [text] = await once(thread, 'message', { signal: limit });
    return text;
  } catch (cause) {
    throw new SchemaRefusedError('it is malformed, or asks for too much', { cause });
  }
}
