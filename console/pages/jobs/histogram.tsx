import { useMemo, useState } from 'react';
import { POLL_MS, useRead } from '../../data/queries.ts';
import { Button } from '../../design/button.tsx';
import { formatCount, formatMinute } from '../../design/formats.ts';
import { Table } from '../../design/table.tsx';
import { Bars, endsOf, type Selection } from './bars.tsx';
import { type Bucket, bucketsOf, STATES, totalOf } from './buckets.ts';
import styles from './histogram.module.css';
import type { JobTimes } from './useJobs.ts';

type Ends = Readonly<Record<keyof JobTimes, string>>;

/** The jobs by time and state. A press on a bar, or a pull over several, narrows the list to them. */
export function Histogram(props: {
  /** Those of the list. */
  times: JobTimes;
  model: string | undefined;
  onNarrow: (times: Ends) => void;
  /** Undefined where the list has no times. */
  onWiden: (() => void) | undefined;
}) {
  const { times, model, onNarrow, onWiden } = props;
  const { data, error } = useRead('/job-counts', {
    query: { ...times, model },
    everyMs: POLL_MS.sums,
  });
  const [isTable, setTable] = useState(false);
  const [selection, setSelection] = useState<Selection>();
  const buckets = useMemo(() => (data ? bucketsOf(data) : []), [data]);
  const take = (taken: Selection) => {
    const ends = endsOf(buckets, taken);
    setSelection(undefined);
    if (ends) onNarrow(ends);
  };
  return (
    <section className={styles.histogram} aria-label="Jobs by time">
      {isTable && data ? (
        <CountTable buckets={buckets} />
      ) : (
        <Bars buckets={buckets} selection={selection} onSelect={setSelection} onTake={take} />
      )}
      <div className={styles.foot}>
        <span className={styles.times}>
          {error ? 'The counts could not be read.' : wordsOf(endsOf(buckets, selection) ?? data)}
        </span>
        <ul className={styles.legend}>
          {STATES.map((state) => (
            <li key={state}>
              <svg viewBox="0 0 8 8" width="8" height="8" aria-hidden="true">
                <rect width="8" height="8" className={styles[state]} />
              </svg>
              {state}
            </li>
          ))}
        </ul>
        {onWiden && (
          <Button size="small" onClick={onWiden}>
            Every time
          </Button>
        )}
        <Button size="small" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          {isTable ? 'As bars' : 'As a table'}
        </Button>
      </div>
    </section>
  );
}

function wordsOf(times: Ends | undefined): string {
  return times ? `${formatMinute(times.since)} to ${formatMinute(times.until)} UTC` : ' ';
}

function CountTable({ buckets }: { buckets: readonly Bucket[] }) {
  return (
    <div className={styles.table}>
      <Table
        caption="Jobs by time and state"
        rows={buckets.filter((bucket) => totalOf(bucket) > 0)}
        rowKey={({ start }) => start}
        columns={[
          { title: 'From (UTC)', cell: ({ start }) => formatMinute(start) },
          ...STATES.map((state) => ({
            title: state,
            isNumber: true,
            cell: (bucket: Bucket) => formatCount(bucket[state]),
          })),
        ]}
      />
    </div>
  );
}
