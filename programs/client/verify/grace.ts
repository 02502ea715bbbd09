/**
 * How long something overdue may stay undone, in seconds: anybody can refund a job or expire a
 * dispute after its deadline, but somebody has to do it.
 */
export const GRACE_SECONDS = 60n;
