import { type KeyboardEvent, memo, type PointerEvent, useState } from 'react';
import { formatCount, formatMinute } from '../../design/formats.ts';
import { joinClasses } from '../../design/joinClasses.ts';
import { type Bucket, STATES, totalOf } from './buckets.ts';
import styles from './histogram.module.css';

const HEIGHT = 64;
/** One bar alone would be as wide as the page. */
const PLACES_MIN = 24;

/** Buckets that are being chosen, as their places: where that began, and where it is. */
export type Selection = readonly [from: number, to: number];

/** The buckets that are chosen, the earlier one first. */
export function endsOf(buckets: readonly Bucket[], selection: Selection | undefined) {
  const first = selection && buckets[Math.min(...selection)];
  const last = selection && buckets[Math.max(...selection)];
  return first && last && { since: first.start, until: last.end };
}

/**
 * A bar for each bucket. A press chooses one, a pull several. By keyboard the arrows go from bar to bar,
 * Shift and an arrow choose several, and Enter takes them.
 */
export function Bars({
  buckets,
  selection,
  onSelect,
  onTake,
}: Omit<Choosing, 'last'> & { readonly buckets: readonly Bucket[] }) {
  const [reached, setReached] = useState<number>();
  const places = Math.max(PLACES_MIN, buckets.length);
  const last = buckets.length - 1;
  const current = Math.min(reached ?? buckets.findLastIndex((bucket) => totalOf(bucket) > 0), last);
  const highest = Math.max(1, ...buckets.map(totalOf));
  const choosing = { selection, onSelect, onTake, last };
  return (
    <svg
      viewBox={`0 0 ${places} ${HEIGHT}`}
      preserveAspectRatio="none"
      className={styles.bars}
      {...pointerHandlers(choosing, places)}
      onKeyDown={keyHandler(choosing, current)}
      onFocus={({ target }) => setReached(Number((target as SVGElement).dataset.bucket))}
    >
      <title>Jobs by time and state; the table has the numbers</title>
      {buckets.map((bucket, place) => (
        <Bar
          key={bucket.start}
          bucket={bucket}
          place={place}
          highest={highest}
          isReached={place === current}
          isSelected={
            selection !== undefined &&
            place >= Math.min(...selection) &&
            place <= Math.max(...selection)
          }
          chosen={
            selection && selection[0] !== selection[1] && selection[1] === place
              ? rangeOf(buckets, selection)
              : ''
          }
        />
      ))}
    </svg>
  );
}

interface Choosing {
  readonly selection: Selection | undefined;
  readonly onSelect: (selection: Selection | undefined) => void;
  readonly onTake: (selection: Selection) => void;
  /** The place of the last bar. */
  readonly last: number;
}

const within = (place: number, last: number) => Math.max(0, Math.min(last, place));

function pointerHandlers({ selection, onSelect, onTake, last }: Choosing, places: number) {
  const placeOf = ({ currentTarget, clientX }: PointerEvent) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    return Math.floor(((clientX - left) / width) * places);
  };
  const isPulled = ({ currentTarget, pointerId }: PointerEvent) =>
    currentTarget.hasPointerCapture(pointerId);
  return {
    onPointerDown(event: PointerEvent) {
      const place = placeOf(event);
      if (event.button !== 0 || place > last) return;
      // A pull that leaves the bars goes on to those at their end.
      event.currentTarget.setPointerCapture(event.pointerId);
      onSelect([place, place]);
    },
    onPointerMove(event: PointerEvent) {
      if (!selection || !isPulled(event)) return;
      const to = within(placeOf(event), last);
      if (to !== selection[1]) onSelect([selection[0], to]);
    },
    onPointerUp(event: PointerEvent) {
      if (selection && isPulled(event)) onTake(selection);
    },
    onPointerCancel: () => onSelect(undefined),
  };
}

/** @param current the place of the bar that the keyboard has reached */
function keyHandler({ selection, onSelect, onTake, last }: Choosing, current: number) {
  return (event: KeyboardEvent<SVGSVGElement>) => {
    const to = {
      ArrowLeft: within(current - 1, last),
      ArrowRight: within(current + 1, last),
      Home: 0,
      End: last,
    }[event.key];
    const isTaken = event.key === 'Enter' || event.key === ' ';
    if (to !== undefined) {
      onSelect(event.shiftKey ? [selection?.[0] ?? current, to] : undefined);
      event.currentTarget.querySelector<SVGElement>(`[data-bucket="${to}"]`)?.focus();
    } else if (isTaken) onTake(selection ?? [current, current]);
    else if (event.key === 'Escape') onSelect(undefined);
    if (to !== undefined || isTaken) event.preventDefault();
  };
}

/** Only the bars whose choice changes are drawn again. */
const Bar = memo(function Bar(props: {
  bucket: Bucket;
  place: number;
  /** The number of jobs that is as high as the drawing. */
  highest: number;
  isReached: boolean;
  isSelected: boolean;
  /** What ends at this bar, in words. */
  chosen: string;
}) {
  const { bucket, place, highest, isReached, isSelected, chosen } = props;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a drawing has no buttons
    <g
      role="button"
      // One stop of the keyboard for all of them.
      tabIndex={isReached ? 0 : -1}
      data-bucket={place}
      className={joinClasses(styles.bar, isSelected && styles.selected)}
      aria-label={`${chosen || countsOf(bucket)}. Show these alone`}
    >
      <title>{countsOf(bucket)}</title>
      <rect x={place} y={0} width={1} height={HEIGHT} className={styles.reach} />
      {stackOf(bucket, highest).map(({ state, y, height }) => (
        <rect
          key={state}
          x={place + 0.1}
          width={0.8}
          y={y}
          height={height}
          className={styles[state]}
        />
      ))}
    </g>
  );
});

function rangeOf(buckets: readonly Bucket[], selection: Selection): string {
  const chosen = buckets.slice(Math.min(...selection), Math.max(...selection) + 1);
  const ends = endsOf(buckets, selection);
  const jobs = chosen.reduce((sum, bucket) => sum + totalOf(bucket), 0);
  return `${formatMinute(ends?.since ?? '')} to ${formatMinute(ends?.until ?? '')}: ${formatCount(jobs)} jobs`;
}

function countsOf(bucket: Bucket): string {
  const parts = STATES.filter((state) => bucket[state] > 0).map(
    (state) => `${formatCount(bucket[state])} ${state}`,
  );
  return `${formatMinute(bucket.start)}: ${parts.join(', ') || 'no job'}`;
}

/** Each state's part of a bar, from the ground up. A few jobs among many can still be seen. */
function stackOf(bucket: Bucket, highest: number) {
  let y = HEIGHT;
  return STATES.filter((state) => bucket[state] > 0).map((state) => {
    const height = Math.max(1, (bucket[state] / highest) * (HEIGHT - STATES.length));
    y -= height;
    return { state, y, height };
  });
}
