const HOUR_SECONDS = 3_600;
const BUCKETS_MAX = 96;
/** Hours, parts of a day, days, weeks, and four of them. */
const BUCKET_HOURS = [1, 2, 3, 6, 12, 24, 7 * 24, 28 * 24] as const;
const LONGEST_SECONDS = 28 * 24 * HOUR_SECONDS;

/** A period: Unix seconds, from the first to before the last. */
interface Times {
  readonly since: number;
  readonly until: number;
}

/** What two periods have in common. Where they have nothing, the second of `one` nearest to `other`. */
export function overlapOf(one: Times, other: Times): Times {
  const since = Math.max(one.since, other.since);
  const until = Math.min(one.until, other.until);
  if (since < until) return { since, until };
  return one.since >= other.until
    ? { since: one.since, until: one.since + 1 }
    : { since: one.until - 1, until: one.until };
}

/** The period widened to whole hours; at least one. */
export function wholeHours({ since, until }: Times): Times {
  const first = Math.floor(since / HOUR_SECONDS);
  const end = Math.max(first + 1, Math.ceil(until / HOUR_SECONDS));
  return { since: first * HOUR_SECONDS, until: end * HOUR_SECONDS };
}

/** The period widened to whole buckets. Buckets begin at multiples of their length. */
export function bucketsAround({ since, until }: Times, bucketSeconds: number): Times {
  return {
    since: Math.floor(since / bucketSeconds) * bucketSeconds,
    until: Math.ceil(until / bucketSeconds) * bucketSeconds,
  };
}

/** The shortest buckets of which at most `BUCKETS_MAX` cover the period. */
export function bucketSecondsOf(times: Times): number {
  const countOf = (bucketSeconds: number) => {
    const { since, until } = bucketsAround(times, bucketSeconds);
    return (until - since) / bucketSeconds;
  };
  const fitting = BUCKET_HOURS.map((hours) => hours * HOUR_SECONDS).find(
    (seconds) => countOf(seconds) <= BUCKETS_MAX,
  );
  if (fitting !== undefined) return fitting;
  let seconds = LONGEST_SECONDS;
  while (countOf(seconds) > BUCKETS_MAX) seconds += LONGEST_SECONDS;
  return seconds;
}
