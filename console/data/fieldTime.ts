/** A day or minute of UTC, as it stands in the page's address and in a field. */
export const fieldTime = (time: string | undefined): string =>
  time?.replace(/^(\d{4}-\d\d-\d\d)$/, '$1T00:00').replace(/(T\d\d:\d\d).*$/, '$1') ?? '';

/** The same as the API takes it. */
export const isoTime = (time: string): string => `${fieldTime(time)}:00Z`;
