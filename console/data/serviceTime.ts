/** How far the service's time is ahead of the page's own count, in milliseconds. */
let leadMs: number | undefined;

/**
 * Takes the service's time from an answer: what a visitor's clock says may be wrong by hours. Whole
 * seconds come late by their way, never early, so the greatest lead is the nearest to the truth.
 */
export function noteServiceTime({ headers }: Response): void {
  const answeredMs = Date.parse(headers.get('date') ?? '');
  if (Number.isNaN(answeredMs)) return;
  leadMs = Math.max(leadMs ?? Number.NEGATIVE_INFINITY, answeredMs - performance.now());
}

/** The service's time in Unix milliseconds; the visitor's until the first answer. */
export const serviceNow = (): number => performance.now() + (leadMs ?? performance.timeOrigin);
