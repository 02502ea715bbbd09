import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Logger } from '../../../common/logger.ts';
import { parseJson } from '../../../programs/client/proof.ts';
import type { ChatCompletionRequest } from '../../contracts/chatCompletion.ts';
import { ApiError, serviceUnavailable } from '../../contracts/errors.ts';
import { createQuotas, type Sender } from './quotas.ts';
import type { ReadBody } from './thread.ts';

/**
 * Reads large bodies of completions in a thread, one at a time, while the process answers others.
 * Wallets take turns: however many bodies one of them sends, any other waits for one of
 * them at most.
 */
export interface LargeBodies {
  /**
   * Counts what arrives of a body, until it is let go: also what needs no thread.
   *
   * - `keep` takes how many bytes have arrived. @throws ApiError where a wallet, an address or all
   *   together hold too many; this body gives its own up then
   * - `assertPlace` @throws ApiError as `read` would now
   * - `release` lets go
   */
  hold(sender: Sender): { keep(bytes: number): void; assertPlace(): void; release(): void };
  /**
   * @param chunks of the body; the thread takes them, and they are empty afterwards
   * @param isWanted whether its client still waits when its turn comes
   * @returns undefined when it does not
   * @throws ApiError `rate_limit_exceeded` when too many of this wallet or address wait,
   *   `service_unavailable` when too many wait in all, or the thread has ended
   */
  read(
    chunks: readonly Uint8Array[],
    sender: Sender,
    isWanted: () => boolean,
  ): Promise<ReadBody | undefined>;
  close(): Promise<void>;
}

/** How many bodies wait at most, besides the one that is being read. */
const WAITING_MAX = { wallet: 2, address: 8, all: 64 };

/** Bytes that have arrived of bodies that are not read yet. */
const BYTES_MAX = { wallet: 16 << 20, address: 64 << 20, all: 256 << 20 };

/** Reading a body takes far less than a second. */
const RETRY_AFTER_SECONDS = 1;

/**
 * What a body of 4 MiB takes, many times over. Near the limit V8 collects more often, so that what
 * earlier bodies left takes less memory; beyond it the thread alone ends.
 */
const THREAD_LIMITS = { maxOldGenerationSizeMb: 256 };

interface Task {
  chunks: readonly Uint8Array[];
  sender: Sender;
  isWanted: () => boolean;
  resolve: (body: ReadBody | undefined) => void;
  reject: (error: unknown) => void;
}

const unread = () => serviceUnavailable('The body could not be read; try again.');
const tooMany = () => serviceUnavailable('Too many large bodies are being read; try again.');

// Source or compiled, as this file is.
const THREAD = new URL(`./thread${extname(import.meta.filename)}`, import.meta.url);

/**
 * The thread starts with the first large body. After its end, the next one starts another.
 *
 * @param options.script the thread's entry
 * @param options.bytesMax how many bytes may be held
 */
export function createLargeBodies(options: {
  logger: Logger;
  script?: URL;
  bytesMax?: typeof BYTES_MAX;
}): LargeBodies {
  const { logger, script = THREAD, bytesMax = BYTES_MAX } = options;
  const bytes = createQuotas(bytesMax, (whose, limit) => {
    if (whose === 'all') throw tooMany();
    throw tooManyOf(whose, `${limit} bytes of bodies of one ${whose} are held at a time`, limit);
  });
  /** The waiting bodies of each wallet, in the order of their turns. */
  const waiting = new Map<string, Task[]>();
  let thread: Worker | undefined;
  let current: Task | undefined;

  function start(): Worker {
    const started = new Worker(script, { resourceLimits: THREAD_LIMITS });
    // A client that waits for its body has a connection, which keeps the process alive.
    started.unref();
    started.on('message', (body: ReadBody<string>) => {
      current?.resolve(
        body.kind === 'request'
          ? { ...body, request: parseJson(body.request) as ChatCompletionRequest }
          : body,
      );
      next();
    });
    started.on('error', (error) => {
      logger.error({ msg: 'Lost the thread that reads large bodies', err: error });
    });
    // After an error, too.
    started.on('exit', () => {
      thread = undefined;
      current?.reject(unread());
      next();
    });
    return started;
  }

  /** The wallets take turns: the one whose body was read last comes behind all others. */
  function takeTurn(): Task | undefined {
    const before = current?.sender.wallet;
    const wallets = [...waiting.keys()];
    const wallet = wallets.find((one) => one !== before) ?? wallets[0];
    if (wallet === undefined) return undefined;
    const [task, ...rest] = waiting.get(wallet) ?? [];
    waiting.delete(wallet);
    if (rest.length > 0) waiting.set(wallet, rest);
    return task;
  }

  function next(): void {
    current = takeTurn();
    while (current && !current.isWanted()) {
      current.resolve(undefined);
      current = takeTurn();
    }
    if (!current) return;
    thread ??= start();
    const chunks = current.chunks.map(ownBytes);
    thread.postMessage(
      chunks,
      chunks.map(({ buffer }) => buffer),
    );
  }

  /** Bodies whose clients have left must not fill the queue. */
  function dropUnwanted(): void {
    for (const [wallet, tasks] of waiting) {
      const wanted = tasks.filter((task) => task.isWanted());
      for (const task of tasks) if (!wanted.includes(task)) task.resolve(undefined);
      // The wallet keeps its place in the order of turns.
      if (wanted.length > 0) waiting.set(wallet, wanted);
      else waiting.delete(wallet);
    }
  }

  /** @throws ApiError */
  function assertPlace({ wallet, address }: Sender): void {
    dropUnwanted();
    const all = [...waiting.values()].flat();
    const count = {
      wallet: all.filter(({ sender }) => sender.wallet === wallet).length,
      address: all.filter(({ sender }) => sender.address === address).length,
    };
    for (const whose of ['wallet', 'address'] as const) {
      const limit = WAITING_MAX[whose];
      const words = `${limit} large bodies of one ${whose} wait at a time`;
      if (count[whose] >= limit) throw tooManyOf(whose, words, limit);
    }
    if (all.length >= WAITING_MAX.all) throw tooMany();
  }

  return {
    hold(sender) {
      const held = bytes.hold(sender);
      return {
        ...held,
        assertPlace() {
          try {
            assertPlace(sender);
          } catch (error) {
            held.release();
            throw error;
          }
        },
      };
    },
    async read(chunks, sender, isWanted) {
      assertPlace(sender);
      return new Promise((resolve, reject) => {
        const tasks = waiting.get(sender.wallet) ?? [];
        tasks.push({ chunks, sender, isWanted, resolve, reject });
        waiting.set(sender.wallet, tasks);
        if (!current) next();
      });
    },
    async close() {
      // The end of the thread would start another for them.
      const left = [...waiting.values()].flat();
      waiting.clear();
      for (const { reject } of left) reject(unread());
      await thread?.terminate();
    },
  };
}

function tooManyOf(whose: 'wallet' | 'address', words: string, limit: number): ApiError {
  return new ApiError(
    'rate_limit_exceeded',
    `Too many large requests from this ${whose}: ${words}. Send it again in a second.`,
    { retryAfterSeconds: RETRY_AFTER_SECONDS, details: { limit } },
  );
}

/** Memory that is shared with other buffers cannot be given to the thread. */
function ownBytes(chunk: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer } = chunk;
  const isOwn = buffer instanceof ArrayBuffer && buffer.byteLength === chunk.byteLength;
  return isOwn ? (chunk as Uint8Array<ArrayBuffer>) : new Uint8Array(chunk);
}
