import type { UsageAnswer } from '../../../api/contracts/index.ts';

type Row = UsageAnswer['data'][number];

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** How long a bar is. */
export const STEPS_MS = { hour: HOUR_MS, day: DAY_MS } as const;
/** Times of jobs are kept so long. */
const LATENCY_DAYS_MAX = 30;

/** Times that can be chosen: the value in the page's address, its words, days, and the grouping. */
export const SPANS = [
  ['24h', 'last 24 hours', 1, 'hour'],
  ['7d', 'last 7 days', 7, 'day'],
  ['30d', 'last 30 days', 30, 'day'],
  ['90d', 'last 90 days', 90, 'day'],
] as const;

/**
 * From the beginning of an hour or day to the end of the present one, so that it changes rarely.
 *
 * @param nowMs of the service: a visitor's clock would ask for hours that have no jobs yet
 */
export function periodOf(span: string, nowMs: number) {
  const [, , days, by] = SPANS.find(([value]) => value === span) ?? SPANS[2];
  const stepMs = STEPS_MS[by];
  const untilMs = Math.floor(nowMs / stepMs) * stepMs + stepMs;
  const iso = (ms: number) => new Date(ms).toISOString();
  return {
    by,
    since: iso(untilMs - days * DAY_MS),
    until: iso(untilMs),
    latencySince: iso(untilMs - Math.min(days, LATENCY_DAYS_MAX) * DAY_MS),
  };
}

export function sumOf(rows: readonly Row[]) {
  const sum = (value: (row: Row) => number) => rows.reduce((all, row) => all + value(row), 0);
  return {
    credits: sum(({ credits_charged }) => credits_charged),
    jobs: sum(({ jobs }) => jobs),
    promptTokens: sum(({ prompt_tokens }) => prompt_tokens),
    completionTokens: sum(({ completion_tokens }) => completion_tokens),
    settled: sum(({ settled }) => settled),
    longJobs: sum(({ long_jobs }) => long_jobs),
    longCredits: sum(({ long_credits_charged }) => long_credits_charged),
  };
}

/** What the charged jobs of each model cost at its two prices, by the model's name. */
export function ratesOf(rows: readonly Row[]) {
  return [...Map.groupBy(rows, ({ model }) => model)]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([model, ofModel]) => {
      const { credits, settled, longJobs, longCredits } = sumOf(ofModel);
      return {
        model,
        perRequest: { jobs: settled - longJobs, credits: credits - longCredits },
        per1kTokens: { jobs: longJobs, credits: longCredits },
      };
    })
    .filter(({ perRequest, per1kTokens }) => perRequest.jobs + per1kTokens.jobs > 0);
}

const MEASURES: Readonly<Record<string, (row: Row) => number>> = {
  credits: ({ credits_charged }) => credits_charged,
  tokens: ({ prompt_tokens, completion_tokens }) => prompt_tokens + completion_tokens,
  jobs: ({ jobs }) => jobs,
};

export interface Bar {
  readonly start: string;
  /** By model. */
  readonly values: ReadonlyMap<string, number>;
  readonly total: number;
}

/** One bar for each hour or day of the period, also for those in which nothing was used. */
export function barsOf({ data, by, since, until }: UsageAnswer, measure: string): Bar[] {
  const value = MEASURES[measure] ?? ((row: Row) => row.credits_charged);
  const stepMs = STEPS_MS[by];
  const rows = Map.groupBy(data, ({ start }) => Date.parse(start));
  const count = Math.round((Date.parse(until) - Date.parse(since)) / stepMs);
  return Array.from({ length: count }, (_, index) => {
    const startMs = Date.parse(since) + index * stepMs;
    const values = new Map<string, number>();
    for (const row of rows.get(startMs) ?? []) {
      values.set(row.model, (values.get(row.model) ?? 0) + value(row));
    }
    const total = [...values.values()].reduce((sum, one) => sum + one, 0);
    return { start: new Date(startMs).toISOString(), values, total };
  });
}

/** The models by what they used, the greatest first. */
export function modelsOf(bars: readonly Bar[]): string[] {
  const totals = new Map<string, number>();
  for (const { values } of bars) {
    for (const [model, value] of values) totals.set(model, (totals.get(model) ?? 0) + value);
  }
  return [...totals].toSorted(([, one], [, other]) => other - one).map(([model]) => model);
}
