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

/** Availability at a glance, oldest first: each span by colour and pattern. */
export function DayStrip({
  label,
  spans,
  from,
}: {
  readonly label: string;
  readonly spans: readonly (Span | undefined)[];
  readonly from: string;
}) {
  return (
    <div role="img" aria-label={label}>
      <div className={styles.strip}>
        {spans.map((span, index) => (
          <span
            key={index}
            className={joinClasses(styles.cell, span && styles[kindOf(span)])}
            title={span && `${span.name}: ${span.answered} of ${span.probes} probes answered`}
          />
        ))}
      </div>
      <div className={styles.legend}>
        <span>{from}</span>
        <span>now</span>
      </div>
    </div>
  );
}
