/** Things of which each serves one at a time; who finds none waits in line. */
export function createPool(items) {
  const free = [...items];
  const waiting = [];
  return {
    /** @throws the signal's reason when it has aborted before the work's turn came */
    async use(signal, work) {
      const item = free.pop() ?? (await new Promise((resolve) => waiting.push(resolve)));
      try {
        signal.throwIfAborted();
        return await work(item);
      } finally {
        const next = waiting.shift();
        if (next) next(item);
        else free.push(item);
      }
    },
  };
}
