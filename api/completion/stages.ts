/** How long each stage of a request took, for the `server-timing` header and the benchmarks. */
export interface Stages {
  /** Ends the present stage under this name. */
  mark(name: 'lock' | 'worker' | 'settle' | 'mirror'): void;
  /** `lock;dur=21.4, worker;dur=3.0, …`, in milliseconds. */
  header(): string;
}

export function createStages(): Stages {
  const durations: string[] = [];
  let startedMs = performance.now();
  return {
    mark(name) {
      const now = performance.now();
      durations.push(`${name};dur=${(now - startedMs).toFixed(1)}`);
      startedMs = now;
    },
    header: () => durations.join(', '),
  };
}
