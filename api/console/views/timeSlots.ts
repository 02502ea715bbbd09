const HOUR_SECONDS = 3_600;
const SLOTS_MAX = 96;
/** Hours, parts of a day, days, weeks, and four of them. */
const SLOT_HOURS = [1, 2, 3, 6, 12, 24, 7 * 24, 28 * 24] as const;
const LONGEST_SECONDS = 28 * 24 * HOUR_SECONDS;

/** Unix seconds, from the first to before the last. */
interface Times {
  readonly since: number;
  readonly until: number;
}

/** What two times have in common; where they have nothing, the second that one has nearest to the other. */
export function overlapOf(one: Times, other: Times): Times {
  const since = Math.max(one.since, other.since);
  const until = Math.min(one.until, other.until);
  if (since < until) return { since, until };
  return one.since >= other.until
    ? { since: one.since, until: one.since + 1 }
    : { since: one.until - 1, until: one.until };
}

/** The same times with the hours that they lie in; at least one. */
export function wholeHours({ since, until }: Times): Times {
  const first = Math.floor(since / HOUR_SECONDS);
  const end = Math.max(first + 1, Math.ceil(until / HOUR_SECONDS));
  return { since: first * HOUR_SECONDS, until: end * HOUR_SECONDS };
}

/** The times of the slots that some times lie in. Slots begin at multiples of their length. */
export function slotsAround({ since, until }: Times, slotSeconds: number): Times {
  return {
    since: Math.floor(since / slotSeconds) * slotSeconds,
    until: Math.ceil(until / slotSeconds) * slotSeconds,
  };
}

/** The shortest slots of which few enough cover these times. */
export function slotSecondsOf(times: Times): number {
  const countOf = (slotSeconds: number) => {
    const { since, until } = slotsAround(times, slotSeconds);
    return (until - since) / slotSeconds;
  };
  const fitting = SLOT_HOURS.map((hours) => hours * HOUR_SECONDS).find(
    (seconds) => countOf(seconds) <= SLOTS_MAX,
  );
  if (fitting !== undefined) return fitting;
  let seconds = LONGEST_SECONDS;
  while (countOf(seconds) > SLOTS_MAX) seconds += LONGEST_SECONDS;
  return seconds;
}
