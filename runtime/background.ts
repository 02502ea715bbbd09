/** Work that its starter does not wait for, but that a process finishes before it ends. */
export interface Background {
  /** @param work must not reject: whoever starts it handles its errors */
  add(work: Promise<unknown>): void;
  /** Resolves when nothing runs any more, what is added meanwhile included. */
  drain(): Promise<void>;
}

export function createBackground(): Background {
  const running = new Set<Promise<unknown>>();
  return {
    add(work) {
      running.add(work);
      void work.finally(() => running.delete(work));
    },
    async drain() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
