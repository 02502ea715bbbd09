import type { ConsoleJob } from '../../../api/console/contracts/index.ts';
import { formatMs } from '../../design/time.tsx';
import styles from './timeline.module.css';

type Timings = NonNullable<ConsoleJob['timings']>;

interface Span {
  readonly name: string;
  readonly fromMs: number;
  readonly toMs: number;
}

function spansOf({ lock_ms, first_token_ms, worker_ms, settlement_ms }: Timings): Span[] {
  const spans: Span[] = [];
  const add = (name: string, fromMs: number | null, toMs: number | null) => {
    if (fromMs !== null && toMs !== null) spans.push({ name, fromMs, toMs });
  };
  add('Lock', 0, lock_ms);
  add('First token', lock_ms, first_token_ms);
  add('Answer', first_token_ms ?? lock_ms, worker_ms);
  add('Settlement', worker_ms, settlement_ms);
  return spans;
}

/** The stages of a job, each where it lies in the whole. */
export function Waterfall({ timings }: { readonly timings: Timings }) {
  const spans = spansOf(timings);
  const wholeMs = Math.max(1, ...spans.map(({ toMs }) => toMs));
  return (
    <div className={styles.bars}>
      {spans.map(({ name, fromMs, toMs }) => (
        <div key={name} className={styles.bar}>
          <span>{name}</span>
          <span className={styles.track}>
            <span
              className={styles.fill}
              style={{
                left: `${(fromMs / wholeMs) * 100}%`,
                width: `${((toMs - fromMs) / wholeMs) * 100}%`,
              }}
            />
          </span>
          <span className={styles.ms}>{formatMs(Math.max(0, toMs - fromMs))}</span>
        </div>
      ))}
    </div>
  );
}
