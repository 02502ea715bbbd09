import type { ConsoleJob } from '../../../api/contracts/index.ts';

/** How long each stage of a job took. The worker's and the first token count from the lock. */
export type Timings = NonNullable<ConsoleJob['timings']>;

export type Stage = 'Lock' | 'First token' | 'Answer' | 'Settlement';

interface Span {
  readonly name: Stage;
  readonly fromMs: number;
  readonly toMs: number;
}

/** When each stage began and ended since the request came, without stages that did not happen. */
export function spansOf(timings: Timings): Span[] {
  const { lock_ms: lockMs, worker_ms: workerMs, settlement_ms: settlementMs } = timings;
  if (lockMs === null) return [];
  const spans: Span[] = [{ name: 'Lock', fromMs: 0, toMs: lockMs }];
  const firstMs = lockMs + (timings.first_token_ms ?? 0);
  if (timings.first_token_ms !== null)
    spans.push({ name: 'First token', fromMs: lockMs, toMs: firstMs });
  if (workerMs === null) return spans;
  const answeredMs = lockMs + workerMs;
  spans.push({ name: 'Answer', fromMs: firstMs, toMs: answeredMs });
  if (settlementMs !== null) {
    spans.push({ name: 'Settlement', fromMs: answeredMs, toMs: answeredMs + settlementMs });
  }
  return spans;
}
