import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Logger } from '../../../common/logger.ts';
import { serviceUnavailable } from '../contracts/errors.ts';
import type { ReadBody } from './thread.ts';

/**
 * Reads large bodies of completions in a thread, one at a time: a parser needs up to seconds for
 * 4 MiB, in which the process would do nothing else.
 */
export interface LargeBodies {
  /**
   * @param chunks of the body; the thread takes them, and they are empty afterwards
   * @param isWanted whether anybody still waits for it, when its turn comes
   * @returns undefined when nobody does
   * @throws ApiError `service_unavailable` when too many wait, or the thread has ended
   */
  read(chunks: readonly Uint8Array[], isWanted: () => boolean): Promise<ReadBody | undefined>;
  close(): Promise<void>;
}

/** Each keeps up to 4 MiB. */
const WAITING_MAX = 64;

/**
 * A body of 4 MiB takes 91 MiB at most, as an array of empty objects. Near the limit V8 collects more
 * often, so that what earlier bodies left takes less memory; beyond it the thread alone ends.
 */
const THREAD_LIMITS = { maxOldGenerationSizeMb: 256 };

interface Task {
  chunks: readonly Uint8Array[];
  isWanted: () => boolean;
  resolve: (body: ReadBody | undefined) => void;
  reject: (error: unknown) => void;
}

const unread = () => serviceUnavailable('The body could not be read; try again.');

// Source or compiled, as this file is.
const THREAD = new URL(`./thread${extname(import.meta.filename)}`, import.meta.url);

/**
 * The thread starts with the first large body, and anew with the first after its end.
 *
 * @param script the thread's entry
 */
export function createLargeBodies(options: { logger: Logger; script?: URL }): LargeBodies {
  const { logger, script = THREAD } = options;
  const waiting: Task[] = [];
  let thread: Worker | undefined;
  let current: Task | undefined;

  function start(): Worker {
    const started = new Worker(script, { resourceLimits: THREAD_LIMITS });
    // Whoever waits for a body has a connection that keeps the process.
    started.unref();
    started.on('message', (body: ReadBody) => {
      current?.resolve(body);
      next();
    });
    started.on('error', (error) => {
      logger.error({ msg: 'Lost the thread that reads large bodies', err: error });
    });
    // Whatever it ended by: an error comes before.
    started.on('exit', () => {
      thread = undefined;
      current?.reject(unread());
      next();
    });
    return started;
  }

  function next(): void {
    current = waiting.shift();
    while (current && !current.isWanted()) {
      current.resolve(undefined);
      current = waiting.shift();
    }
    if (!current) return;
    thread ??= start();
    const chunks = current.chunks.map(ownBytes);
    thread.postMessage(
      chunks,
      chunks.map(({ buffer }) => buffer),
    );
  }

  return {
    read(chunks, isWanted) {
      if (waiting.length >= WAITING_MAX) {
        throw serviceUnavailable('Too many large bodies are being read; try again.');
      }
      return new Promise((resolve, reject) => {
        waiting.push({ chunks, isWanted, resolve, reject });
        if (!current) next();
      });
    },
    async close() {
      // Its end would start another for them.
      for (const { reject } of waiting.splice(0)) reject(unread());
      await thread?.terminate();
    },
  };
}

/** What shares its memory with others cannot be given to the thread. */
function ownBytes(chunk: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer } = chunk;
  const isOwn = buffer instanceof ArrayBuffer && buffer.byteLength === chunk.byteLength;
  return isOwn ? (chunk as Uint8Array<ArrayBuffer>) : new Uint8Array(chunk);
}
