import type { PublicKey } from '@solana/web3.js';
import { decodeEventData } from '../../events.ts';
import type { JobEventName } from './record.ts';
import type { LedgerTransaction } from './transaction.ts';

/** What reads like an event of the job and is none: any program may write such bytes. */
export interface Lookalike {
  readonly name: JobEventName;
  readonly sequence: number;
  /** The program whose instruction it is. */
  readonly writer: string;
}

export function findLookalikes(transaction: LedgerTransaction, job: PublicKey): Lookalike[] {
  return transaction.instructions.flatMap((outer, instructionIndex) =>
    [outer, ...outer.inner].flatMap(({ data, programId }, index) => {
      const isEvent = transaction.events.some(
        (event) => event.instructionIndex === instructionIndex && event.innerIndex === index - 1,
      );
      if (isEvent || !Buffer.from(data).includes(job.toBuffer())) return [];
      return read(data, programId, job);
    }),
  );
}

function read(bytes: Uint8Array, writer: string, job: PublicKey): Lookalike[] {
  try {
    const { name, data } = decodeEventData(bytes);
    if (!('job' in data) || !data.job.equals(job)) return [];
    return [{ name: name as JobEventName, sequence: data.jobSequence, writer }];
  } catch {
    // An ordinary instruction that names the job.
    return [];
  }
}
