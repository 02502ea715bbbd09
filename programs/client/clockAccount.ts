/** Behind slot, start of the epoch, epoch and the epoch of the next leaders' schedule. */
const UNIX_TIMESTAMP_OFFSET = 32;

/** The ledger's time in Unix seconds, as the account of its Clock (`SYSVAR_CLOCK_PUBKEY`) holds it. */
export function unixSecondsOf({ data }: { readonly data: Buffer }): bigint {
  return data.readBigInt64LE(UNIX_TIMESTAMP_OFFSET);
}
