import { formatMs } from '../../design/formats.ts';
import { spansOf, type Timings } from './spans.ts';
import styles from './timeline.module.css';

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
          <span className={styles.ms}>{formatMs(toMs - fromMs)}</span>
        </div>
      ))}
    </div>
  );
}
