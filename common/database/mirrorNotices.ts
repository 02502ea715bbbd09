/** What the mirror's notification on `mirror_jobs` says of one job. */
export interface JobNotice {
  readonly address: string;
  /** Of a job that has just been settled: what a client learns of that, without another read. */
  readonly settled?: { readonly settlementTx: string; readonly availableCredits: bigint };
}

/** A notification of Postgres has fewer than 8,000 bytes. */
const PAYLOAD_CHARACTERS_MAX = 7_900;

/** The payloads of the notifications that carry these notices, in their order. */
export function writeNotices(notices: readonly JobNotice[]): string[] {
  const payloads: string[] = [];
  let payload = '';
  for (const { address, settled } of notices) {
    const fields = settled ? [address, settled.availableCredits, settled.settlementTx] : [address];
    const notice = fields.join(':');
    if (payload.length + notice.length >= PAYLOAD_CHARACTERS_MAX) {
      payloads.push(payload);
      payload = '';
    }
    payload += payload === '' ? notice : `,${notice}`;
  }
  return payload === '' ? payloads : [...payloads, payload];
}

export function readNotices(payload: string): JobNotice[] {
  return payload.split(',').map((notice) => {
    const [address = '', credits, settlementTx] = notice.split(':');
    if (credits === undefined || settlementTx === undefined) return { address };
    return { address, settled: { settlementTx, availableCredits: BigInt(credits) } };
  });
}
