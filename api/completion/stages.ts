export type StageName = 'lock' | 'worker' | 'settle' | 'mirror';

/** How long each stage of a request took, for the `server-timing` header and the metrics. */
export interface Stages {
  /** Ends the present stage under this name. */
  mark(name: StageName): void;
  /** `lock;dur=21.4, worker;dur=3.0, …`, in milliseconds. */
  header(): string;
}

/** @param onStage told of each stage as it ends */
export function createStages(onStage: (name: StageName, durationMs: number) => void): Stages {
  const durations: string[] = [];
  let startedMs = performance.now();
  return {
    mark(name) {
      const nowMs = performance.now();
      const durationMs = nowMs - startedMs;
      durations.push(`${name};dur=${durationMs.toFixed(1)}`);
      onStage(name, durationMs);
      startedMs = nowMs;
    },
    header: () => durations.join(', '),
  };
}
