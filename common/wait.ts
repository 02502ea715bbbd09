/** A clock to wait by: the process's own, or one that a test moves on. */
export interface Time {
  /** Monotone, in milliseconds. */
  nowMs(): number;
  /** Calls `then` once after `ms` milliseconds. @returns what cancels that */
  after(ms: number, then: () => void): () => void;
}

export const systemTime: Time = {
  nowMs: () => performance.now(),
  after(ms, then) {
    const timer = setTimeout(then, ms);
    return () => clearTimeout(timer);
  },
};

/**
 * Waits `ms` milliseconds, or less when `signal` aborts. Then it returns without an error, because
 * every caller checks its own state afterwards.
 */
export function delay(ms: number, signal?: AbortSignal, time: Time = systemTime): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = (): void => {
      cancel();
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const cancel = time.after(ms, end);
    signal?.addEventListener('abort', end, { once: true });
  });
}

/** A promise, and the functions that settle it. */
export interface Deferred<Value> {
  readonly promise: Promise<Value>;
  resolve(value: Value): void;
  reject(error: unknown): void;
}

/** `Promise.withResolvers`, which Node 20 lacks: the client package runs there, with this file. */
export function withResolvers<Value>(): Deferred<Value> {
  let resolve: Deferred<Value>['resolve'] = () => undefined;
  let reject: Deferred<Value>['reject'] = () => undefined;
  const promise = new Promise<Value>((...ends) => {
    [resolve, reject] = ends;
  });
  return { promise, resolve, reject };
}

/** The result of `work`, or undefined once `ms` milliseconds have passed; the work itself goes on. */
export async function within<Result>(
  ms: number,
  work: Promise<Result>,
  time: Time = systemTime,
): Promise<Result | undefined> {
  const { promise: late, resolve } = withResolvers<undefined>();
  const cancel = time.after(ms, () => resolve(undefined));
  try {
    return await Promise.race([work, late]);
  } finally {
    cancel();
  }
}

/** The result of `work`. @throws the reason of `signal` if it aborts first; the work goes on */
export async function unlessAborted<Result>(
  signal: AbortSignal,
  work: Promise<Result>,
): Promise<Result> {
  const { promise: aborted, reject } = withResolvers<never>();
  const end = (): void => reject(signal.reason);
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

export type Background = ReturnType<typeof createBackground>;

/** Work that its starter does not wait for, but that a process finishes before it ends. */
export function createBackground() {
  const running = new Set<Promise<unknown>>();

  return {
    /** @param work must not reject: its starter handles its errors */
    add(work: Promise<unknown>): void {
      running.add(work);
      void work.finally(() => running.delete(work));
    },
    /** Resolves when all work has ended, also what is added until then. */
    async drain(): Promise<void> {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

/** An iteration whose first item was asked for already. */
export interface Begun<Item> extends AsyncIterable<Item> {
  /** Gives it up, whether or not anybody has begun to read it. */
  drop(): void;
}

/** Begins an iteration at once, and keeps its first item, or its error, for the one that reads it. */
export function begin<Item>(items: AsyncIterable<Item>): Begun<Item> {
  const iterator = items[Symbol.asyncIterator]();
  const first = iterator.next();
  first.catch(() => undefined);
  async function* read(): AsyncGenerator<Item, void> {
    try {
      for (let next = await first; !next.done; next = await iterator.next()) yield next.value;
    } finally {
      await iterator.return?.();
    }
  }
  return {
    [Symbol.asyncIterator]: read,
    drop: () => void iterator.return?.().catch(() => undefined),
  };
}
