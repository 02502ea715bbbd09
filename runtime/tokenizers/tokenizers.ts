import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { ConfigError } from '../config.ts';
import type { Logger } from '../logger.ts';
import { within } from '../wait.ts';
import type { Counted, TextsToCount } from './thread.ts';

/** The tokenizers of a folder, in a thread of their own: a long text takes them seconds. */
export interface Tokenizers {
  /**
   * @param request.isUrgent taken before all that is not
   * @returns the tokens of all texts; undefined when the model has no tokenizer here, when the texts
   *   are too long or too many wait, or when they were not counted in time
   */
  count(request: TextsToCount & { isUrgent: boolean }): Promise<number | undefined>;
  close(): Promise<void>;
}

/** About two seconds of counting on a slow machine, and more than most context windows hold. */
const TEXT_BYTES_MAX = 512 * 1_024;
/** Counting decides little where a text waits for it longer than one of that size takes. */
const WAIT_MS_MAX = 4_000;
/** Nobody fills the memory with texts that wait. */
const WAITING_MAX = 64;

interface Task {
  request: TextsToCount;
  finish: (tokens: number | undefined) => void;
}

/** @throws ConfigError when a file of the folder is no tokenizer */
export async function openTokenizers(options: {
  folder: string;
  logger: Logger;
}): Promise<Tokenizers> {
  const { folder, logger } = options;
  // Source or compiled, as this file is.
  const script = new URL(`./thread${extname(import.meta.filename)}`, import.meta.url);
  const thread = new Worker(script, { workerData: folder });
  const modelIds = await loaded(thread, folder);
  logger.info({ msg: 'Loaded tokenizers', models: [...modelIds] });

  const waiting: Task[] = [];
  let current: Task | undefined;
  let isOpen = true;

  function countNext(): void {
    if (current || !isOpen) return;
    current = waiting.shift();
    if (current) thread.postMessage(current.request);
  }

  thread.on('message', (counted: Counted) => {
    if (counted.fault !== undefined) {
      logger.warn({ msg: 'Failed to count tokens', cause: counted.fault });
    }
    current?.finish(counted.tokens);
    current = undefined;
    countNext();
  });
  thread.on('error', (error) => {
    // Estimates bound every count from here on; a restart brings the tokenizers back.
    logger.error({ msg: 'Lost the tokenizers', err: error });
    isOpen = false;
    for (const task of [current, ...waiting.splice(0)]) task?.finish(undefined);
  });

  return {
    async count({ isUrgent, ...request }) {
      const bytes = request.texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
      if (!isOpen || !modelIds.has(request.modelId) || bytes > TEXT_BYTES_MAX) return undefined;
      if (waiting.length >= WAITING_MAX) return undefined;
      const { promise, resolve: finish } = Promise.withResolvers<number | undefined>();
      const task = { request, finish };
      if (isUrgent) waiting.unshift(task);
      else waiting.push(task);
      countNext();
      const tokens = await within(WAIT_MS_MAX, promise);
      const index = waiting.indexOf(task);
      if (index !== -1) waiting.splice(index, 1);
      return tokens;
    },
    async close() {
      isOpen = false;
      await thread.terminate();
    },
  };
}

/** The models whose tokenizers the thread has loaded. */
async function loaded(thread: Worker, folder: string): Promise<ReadonlySet<string>> {
  try {
    const [modelIds] = await once(thread, 'message');
    return modelIds as Set<string>;
  } catch (error) {
    throw new ConfigError(`No tokenizers can be read from ${folder}: ${(error as Error).message}`);
  }
}
