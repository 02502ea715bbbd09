/** Milliseconds of a clock that all processes of this machine share. */
export function machineClockMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
