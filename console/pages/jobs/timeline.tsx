import type { ConsoleJob } from '../../../api/contracts/index.ts';
import { formatMs } from '../../design/formats.ts';
import { joinClasses } from '../../design/joinClasses.ts';
import { Time } from '../../design/time.tsx';
import { spansOf, type Timings } from './spans.ts';
import { stepsOf } from './steps.ts';
import styles from './timeline.module.css';

/** What happened by the ledger's clock, and how long it took by the service's. */
export function Timeline({ job }: { job: ConsoleJob }) {
  const missing = job.completed_at === null ? 'not yet' : 'never';
  return (
    <>
      <ol className={styles.timeline}>
        {stepsOf(job).map(({ name, what, at }) => (
          <li key={name} className={joinClasses(styles.step, at !== null && styles.done)}>
            <span className={styles.dot} aria-hidden="true" />
            <div>
              <span>{name}</span>
              <p className="hint">{what}</p>
            </div>
            <span className={joinClasses('hint', styles.time)}>
              {at ? <Time time={at} /> : missing}
            </span>
          </li>
        ))}
      </ol>
      {job.timings && <Waterfall timings={job.timings} />}
    </>
  );
}

/** The stages of a job, each where it lies in the whole. */
function Waterfall({ timings }: { timings: Timings }) {
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
