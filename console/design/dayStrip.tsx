import styles from './dayStrip.module.css';
import { joinClasses } from './joinClasses.ts';

interface Span {
  /** A day or an hour, as it is shown. */
  readonly name: string;
  readonly probes: number;
  readonly answered: number;
}

/** A share from which on a span counts as whole. */
const WHOLE = 0.995;

function kindOf({ probes, answered }: Span): 'full' | 'some' | 'none' {
  const share = answered / probes;
  if (share >= WHOLE) return 'full';
  return share > 0 ? 'some' : 'none';
}

/**
 * Availability at a glance, oldest first: each span by colour and pattern.
 *
 * @param props.from what the first span is called; in a table, whose head says so, none
 * @param props.words what the numbers of a span count
 */
export function DayStrip(props: {
  label: string;
  spans: readonly (Span | false | undefined)[];
  from?: string;
  words?: string;
}) {
  const { label, spans, from, words = 'probes answered' } = props;
  return (
    <div role="img" aria-label={label}>
      <div className={joinClasses(styles.strip, from === undefined && styles.low)}>
        {spans.map((span, index) => (
          <span
            key={index}
            className={joinClasses(styles.cell, span && styles[kindOf(span)])}
            title={span ? `${span.name}: ${span.answered} of ${span.probes} ${words}` : undefined}
          />
        ))}
      </div>
      {from !== undefined && <Legend from={from} />}
    </div>
  );
}

interface Bar {
  /** A day, as it is shown. */
  readonly name: string;
  readonly value: number;
  /** The value as it is read. */
  readonly words: string;
}

/** A value by day, oldest first: each bar in proportion to the greatest. */
export function DayBars(props: {
  label: string;
  bars: readonly (Bar | undefined)[];
  from: string;
}) {
  const { label, bars, from } = props;
  const most = Math.max(...bars.map((bar) => bar?.value ?? 0));
  return (
    <div role="img" aria-label={label}>
      <div className={joinClasses(styles.strip, styles.bars)}>
        {bars.map((bar, index) => (
          <span
            key={index}
            className={styles.bar}
            title={bar && `${bar.name}: ${bar.words}`}
            style={{ height: `${bar ? Math.max(4, (100 * bar.value) / most) : 0}%` }}
          />
        ))}
      </div>
      <Legend from={from} />
    </div>
  );
}

const Legend = ({ from }: { from: string }) => (
  <div className={styles.legend}>
    <span>{from}</span>
    <span>now</span>
  </div>
);
