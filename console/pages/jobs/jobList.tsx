// biome-ignore-all lint/a11y/useSemanticElements: a table's own elements cannot be placed by a virtual list
// biome-ignore-all lint/a11y/useFocusableInteractive: the link in each row takes the focus
// biome-ignore-all lint/a11y/useKeyWithClickEvents: the link in each row takes the keys

import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useEffect, useEffectEvent, useLayoutEffect, useRef } from 'react';
import { Link } from 'wouter';
import type { ConsoleJob } from '../../../api/contracts/index.ts';
import { formatMs } from '../../design/formats.ts';
import { joinClasses } from '../../design/joinClasses.ts';
import { Ago } from '../../design/time.tsx';
import { Credits, JobState, shortenJobId } from '../../design/values.tsx';
import { afterPaint } from '../../screen/afterPaint.ts';
import { remPx } from '../../screen/useWidth.ts';
import styles from './jobList.module.css';

/** As its style says, which grows with the text. */
const ROW_REM = 2.75;
const OVERSCAN = 6;
/** So many rows before the last one the next page is read. */
const MORE_AHEAD = 12;

const HEADS = [
  ['State'],
  ['Job'],
  ['Model', styles.wide],
  ['Credits', styles.right],
  ['First token', styles.right, styles.wide],
  ['Locked', styles.right, styles.wide],
] as const;

/** However many jobs there are, only those in sight are in the page. `j` and `k` go through them. */
export function JobList(props: {
  jobs: readonly ConsoleJob[];
  hasMore: boolean;
  onMore: () => void;
  onOpen: (id: string) => void;
  linkOf: (id: string) => string;
}) {
  const { jobs, hasMore, onMore, onOpen, linkOf } = props;
  const scroll = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: jobs.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW_REM * remPx(),
    overscan: OVERSCAN,
  });
  const items = virtualizer.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && last >= jobs.length - MORE_AHEAD) onMore();
  }, [hasMore, last, jobs.length, onMore]);
  const first = useRef(jobs[0]?.id);
  useLayoutEffect(() => {
    const added = jobs.findIndex(({ id }) => id === first.current);
    first.current = jobs[0]?.id;
    // New ones come on top: what a reader has scrolled to stays in its place.
    if (added > 0 && scroll.current?.scrollTop)
      scroll.current.scrollTop += added * ROW_REM * remPx();
  }, [jobs]);
  useRowKeys(scroll, jobs.length, (index) => virtualizer.scrollToIndex(index));

  return (
    <div className={styles.frame} role="table" aria-label="Jobs" aria-rowcount={jobs.length}>
      <div className={joinClasses(styles.row, styles.head)} role="row">
        {HEADS.map(([title, ...classes]) => (
          <span key={title} role="columnheader" className={joinClasses(...classes)}>
            {title}
          </span>
        ))}
      </div>
      <div className={styles.scroll} ref={scroll} role="rowgroup">
        <div className={styles.rows} style={{ height: virtualizer.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const job = jobs[index];
            return (
              job && (
                <div
                  key={job.id}
                  role="row"
                  aria-rowindex={index + 1}
                  data-row={index}
                  className={joinClasses(styles.row, styles.body)}
                  style={{ transform: `translateY(${start}px)` }}
                  onClick={({ currentTarget }) => {
                    const link = currentTarget.querySelector('a');
                    // Where the keyboard is again when the job is closed.
                    afterPaint(() => link?.focus({ preventScroll: true }));
                    onOpen(job.id);
                  }}
                >
                  <Cells job={job} href={linkOf(job.id)} />
                </div>
              )
            );
          })}
        </div>
      </div>
    </div>
  );
}

function Cells({ job, href }: { job: ConsoleJob; href: string }) {
  return (
    <>
      <span role="cell">
        <JobState status={job.status} />
      </span>
      <span role="cell" className={joinClasses('mono', styles.id)}>
        <Link href={href} title={job.id} onClick={(event) => event.stopPropagation()}>
          {shortenJobId(job.id)}
        </Link>
      </span>
      <Values job={job} />
    </>
  );
}

/** Drawn again for another job alone: the links change with every filter. */
const Values = memo(function Values({ job }: { job: ConsoleJob }) {
  const isCharged = job.status === 'settled' || job.status === 'disputed';
  return (
    <>
      <span role="cell" className={joinClasses(styles.wide, styles.clip)}>
        {job.model}
      </span>
      <span role="cell" className={joinClasses(styles.right, styles.amount)}>
        <Credits credits={isCharged ? job.credits_charged : 0} />
      </span>
      <span role="cell" className={joinClasses(styles.right, styles.wide)}>
        {formatMs(job.timings?.first_token_ms ?? null)}
      </span>
      <span role="cell" className={joinClasses(styles.right, styles.wide)}>
        <Ago time={job.created_at} />
      </span>
    </>
  );
});

/** `j` and `k` move the focus from row to row, also to those that are not in the page yet. */
function useRowKeys(
  scroll: React.RefObject<HTMLDivElement | null>,
  count: number,
  show: (index: number) => void,
): void {
  const linkIn = (index: number) =>
    scroll.current?.querySelector<HTMLElement>(`[data-row="${index}"] a`);
  const onKey = useEffectEvent(({ key, target }: KeyboardEvent) => {
    const step = { j: 1, k: -1 }[key];
    const isFree =
      target instanceof HTMLElement && !/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
    if (step === undefined || !isFree || document.querySelector('[role="dialog"]')) return;
    const row = target.closest<HTMLElement>('[data-row]');
    const next = row === null ? 0 : Number(row.dataset.row) + step;
    if (next < 0 || next >= count) return;
    show(next);
    const link = linkIn(next);
    if (link) link.focus();
    else requestAnimationFrame(() => linkIn(next)?.focus());
  });
  useEffect(() => {
    const handle = (event: KeyboardEvent) => onKey(event);
    document.addEventListener('keydown', handle);
    return () => document.removeEventListener('keydown', handle);
  }, []);
}
