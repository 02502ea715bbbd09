import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { ConfigError } from '../config.ts';
import type { Logger } from '../logger.ts';
import { within } from '../wait.ts';
import type { Counted, TextsToCount } from './thread.ts';

export type Tokenizers = Awaited<ReturnType<typeof openTokenizers>>;

type Kind = 'prompt' | 'answer';

/**
 * The longest text of each kind, and how many may wait, for how long. A tokenizer counts words at a
 * megabyte a second, and a run of one letter at a tenth of that. So the longest answer takes 5 s, and
 * the prompt before it 1.5 s. An answer that was stopped 15 s before its job's end can still be
 * settled after that.
 */
const LIMITS = {
  prompt: { bytesMax: 256 * 1_024, waitingMax: 64, waitMs: 4_000 },
  answer: { bytesMax: 512 * 1_024, waitingMax: 512, waitMs: 6_000 },
} as const;

/** A longer prompt is not counted. */
export const PROMPT_BYTES_MAX = LIMITS.prompt.bytesMax;

interface Task {
  request: TextsToCount;
  finish: (tokens: number | undefined) => void;
}

/**
 * The tokenizers of a folder, in a thread of their own, since a long text takes seconds.
 *
 * @throws ConfigError when a file of the folder is no tokenizer
 */
export async function openTokenizers(options: { folder: string; logger: Logger }) {
  const { folder, logger } = options;
  // Source or compiled, as this file is.
  const script = new URL(`./thread${extname(import.meta.filename)}`, import.meta.url);
  const thread = new Worker(script, { workerData: folder });
  const modelIds = await loaded(thread, folder);
  logger.info({ msg: 'Loaded tokenizers', models: [...modelIds] });

  const waiting: Record<Kind, Task[]> = { answer: [], prompt: [] };
  let current: Task | undefined;
  let isOpen = true;

  function countNext(): void {
    if (current || !isOpen) return;
    current = waiting.answer.shift() ?? waiting.prompt.shift();
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
    // From here on estimates take the place of counts, until a restart.
    logger.error({ msg: 'Lost the thread that counts tokens', err: error });
    isOpen = false;
    const lost = [current, ...waiting.answer.splice(0), ...waiting.prompt.splice(0)];
    for (const task of lost) task?.finish(undefined);
  });

  return {
    /**
     * Counts all answers before any prompt, each kind in its order: charges depend on an answer's count,
     * and anybody can send prompts.
     *
     * @returns the tokens of all texts. Undefined when the model has no tokenizer here, the texts are
     *   too long, too many of their kind wait, or the time is up
     */
    async count(asked: TextsToCount & { kind: Kind }): Promise<number | undefined> {
      const { kind, ...request } = asked;
      const { bytesMax, waitingMax, waitMs } = LIMITS[kind];
      const queue = waiting[kind];
      const bytes = request.texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
      if (!isOpen || !modelIds.has(request.modelId) || bytes > bytesMax) return undefined;
      if (queue.length >= waitingMax) return undefined;
      const { promise, resolve: finish } = Promise.withResolvers<number | undefined>();
      const task = { request, finish };
      queue.push(task);
      countNext();
      const tokens = await within(waitMs, promise);
      const index = queue.indexOf(task);
      if (index !== -1) queue.splice(index, 1);
      return tokens;
    },
    async close(): Promise<void> {
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
    throw new ConfigError(
      `SVC_TOKENIZERS_DIR: no tokenizers can be read from ${folder}: ${(error as Error).message}`,
    );
  }
}
