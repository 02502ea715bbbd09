import { type KeyboardEvent, memo, type PointerEvent, useState } from 'react';
import { formatCount, formatMinute } from '../../design/formats.ts';
import { joinClasses } from '../../design/joinClasses.ts';
import styles from './histogram.module.css';
import { type Slot, STATES, totalOf } from './slots.ts';

const HEIGHT = 64;
/** One bar alone would be as wide as the page. */
const PLACES_MIN = 24;

/** Slots that are being chosen, as their places: where that began, and where it is. */
export type Pull = readonly [from: number, to: number];

/** The slots that are chosen, the earlier one first. */
export function endsOf(slots: readonly Slot[], pull: Pull | undefined) {
  const first = pull && slots[Math.min(...pull)];
  const last = pull && slots[Math.max(...pull)];
  return first && last && { since: first.start, until: last.end };
}

/**
 * A bar for each slot. A press chooses one, a pull several. By keyboard the arrows go from bar to bar,
 * Shift and an arrow choose several, and Enter takes them.
 */
export function Bars({
  slots,
  pull,
  onPull,
  onTake,
}: {
  readonly slots: readonly Slot[];
  readonly pull: Pull | undefined;
  readonly onPull: (pull: Pull | undefined) => void;
  readonly onTake: (pull: Pull) => void;
}) {
  const [reached, setReached] = useState<number>();
  const places = Math.max(PLACES_MIN, slots.length);
  const last = slots.length - 1;
  const current = Math.min(reached ?? slots.findLastIndex((slot) => totalOf(slot) > 0), last);
  const highest = Math.max(1, ...slots.map(totalOf));
  const within = (place: number) => Math.max(0, Math.min(last, place));

  const placeOf = ({ currentTarget, clientX }: PointerEvent) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    return Math.floor(((clientX - left) / width) * places);
  };
  const begin = (event: PointerEvent<SVGSVGElement>) => {
    const place = placeOf(event);
    if (event.button !== 0 || place > last) return;
    // A pull that leaves the bars goes on to those at their end.
    event.currentTarget.setPointerCapture(event.pointerId);
    onPull([place, place]);
  };
  const move = (event: PointerEvent<SVGSVGElement>) => {
    if (!pull || !event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const to = within(placeOf(event));
    if (to !== pull[1]) onPull([pull[0], to]);
  };
  const end = (event: PointerEvent<SVGSVGElement>) => {
    if (pull && event.currentTarget.hasPointerCapture(event.pointerId)) onTake(pull);
  };
  const press = (event: KeyboardEvent<SVGSVGElement>) => {
    const to = {
      ArrowLeft: within(current - 1),
      ArrowRight: within(current + 1),
      Home: 0,
      End: last,
    }[event.key];
    const isTaken = event.key === 'Enter' || event.key === ' ';
    if (to !== undefined) {
      onPull(event.shiftKey ? [pull?.[0] ?? current, to] : undefined);
      event.currentTarget.querySelector<SVGElement>(`[data-slot="${to}"]`)?.focus();
    } else if (isTaken) onTake(pull ?? [current, current]);
    else if (event.key === 'Escape') onPull(undefined);
    if (to !== undefined || isTaken) event.preventDefault();
  };

  return (
    <svg
      viewBox={`0 0 ${places} ${HEIGHT}`}
      preserveAspectRatio="none"
      className={styles.bars}
      onPointerDown={begin}
      onPointerMove={move}
      onPointerUp={end}
      onPointerCancel={() => onPull(undefined)}
      onKeyDown={press}
      onFocus={({ target }) => setReached(Number((target as SVGElement).dataset.slot))}
    >
      <title>Jobs by time and state; the table has the numbers</title>
      {slots.map((slot, place) => (
        <Bar
          key={slot.start}
          slot={slot}
          place={place}
          highest={highest}
          isReached={place === current}
          isPulled={pull !== undefined && place >= Math.min(...pull) && place <= Math.max(...pull)}
          chosen={pull && pull[0] !== pull[1] && pull[1] === place ? rangeOf(slots, pull) : ''}
        />
      ))}
    </svg>
  );
}

/** Only the bars whose choice changes are drawn again. */
const Bar = memo(function Bar({
  slot,
  place,
  highest,
  isReached,
  isPulled,
  chosen,
}: {
  readonly slot: Slot;
  readonly place: number;
  /** The number of jobs that is as high as the drawing. */
  readonly highest: number;
  readonly isReached: boolean;
  readonly isPulled: boolean;
  /** What ends at this bar, in words. */
  readonly chosen: string;
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a drawing has no buttons
    <g
      role="button"
      // One stop of the keyboard for all of them.
      tabIndex={isReached ? 0 : -1}
      data-slot={place}
      className={joinClasses(styles.bar, isPulled && styles.pulled)}
      aria-label={`${chosen || countsOf(slot)}. Show these alone`}
    >
      <title>{countsOf(slot)}</title>
      <rect x={place} y={0} width={1} height={HEIGHT} className={styles.reach} />
      {stackOf(slot, highest).map(({ state, y, height }) => (
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

function rangeOf(slots: readonly Slot[], pull: Pull): string {
  const chosen = slots.slice(Math.min(...pull), Math.max(...pull) + 1);
  const ends = endsOf(slots, pull);
  const jobs = chosen.reduce((sum, slot) => sum + totalOf(slot), 0);
  return `${formatMinute(ends?.since ?? '')} to ${formatMinute(ends?.until ?? '')}: ${formatCount(jobs)} jobs`;
}

function countsOf(slot: Slot): string {
  const parts = STATES.filter((state) => slot[state] > 0).map(
    (state) => `${formatCount(slot[state])} ${state}`,
  );
  return `${formatMinute(slot.start)}: ${parts.join(', ') || 'no job'}`;
}

/** Each state's part of a bar, from the ground up. A few jobs among many can still be seen. */
function stackOf(slot: Slot, highest: number) {
  let y = HEIGHT;
  return STATES.filter((state) => slot[state] > 0).map((state) => {
    const height = Math.max(1, (slot[state] / highest) * (HEIGHT - STATES.length));
    y -= height;
    return { state, y, height };
  });
}
