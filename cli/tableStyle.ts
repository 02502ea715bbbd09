/** No colours: the output may go to a file. */
export const PLAIN = { head: [], border: [] };

/** The same, without lines between the rows. */
export const COMPACT = { ...PLAIN, compact: true };
