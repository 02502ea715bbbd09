export type StageName = 'lock' | 'worker' | 'settle' | 'mirror';

/** How long each stage of a request took, for the `server-timing` header and the metrics. */
export interface Stages {
  /** Ends the stage that is under way, under this name. */
  mark(name: StageName): void;
  /** `lock;dur=21.4, worker;dur=3.0, …`, in milliseconds. */
  header(): string;
}

/**
 * @param onStage told of each stage as it ends, in milliseconds of `performance.now()`
 */
export function createStages(
  onStage: (name: StageName, startMs: number, endMs: number) => void,
): Stages {
  const durations: string[] = [];
  let startMs = performance.now();
  return {
    mark(name) {
      const endMs = performance.now();
      durations.push(`${name};dur=${(endMs - startMs).toFixed(1)}`);
      onStage(name, startMs, endMs);
      startMs = endMs;
    },
    header: () => durations.join(', '),
  };
}
