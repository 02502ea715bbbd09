import type { PublicKey } from '@solana/web3.js';
import { randomBytes as secureRandomBytes } from '#platform';
import { createAddresses, PROGRAM_ID } from './addresses.ts';
import { bytesToHex, hexToBytes, viewOf } from './platform/bytes.ts';

/** A clock that fell back by more than this was set. Ids follow it instead of standing still. */
const STEP_BACK_MS_MAX = 5_000;
/** Each draw succeeds with probability one half. */
const ROUNDS_MAX = 128;
const DRAW_BYTES = 8;
/** Asking for random bytes costs the same for few as for some. */
const DRAWS_AT_ONCE = 4;
const COUNTER_MAX = 0xfff;
const TIME_MS_MAX = 2 ** 48 - 1;
const JOB_ID_PATTERN = /^job_([0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15})$/;

/** An id's time and counter: those of one maker grow strictly. */
interface Place {
  readonly ms: number;
  readonly counter: number;
}

interface NewJob {
  /** The ledger's time in Unix milliseconds, not this machine's. */
  nowMs: number;
  creditAccount: PublicKey;
  programId?: PublicKey;
  randomBytes?: (size: number) => Uint8Array;
}

/**
 * A maker of ids for one ledger, as `createJobId` is for the one that a process works with. It
 * remembers its last id: after that of another ledger, whose clock is ahead, ids would be too new.
 */
export function createJobIds(): (job: NewJob) => { bytes: Uint8Array; address: PublicKey } {
  let last: Place = { ms: 0, counter: 0 };
  return ({ nowMs, creditAccount, programId = PROGRAM_ID, randomBytes = secureRandomBytes }) => {
    const { newJob } = createAddresses(programId);
    last = nextPlace(last, Math.floor(nowMs));
    for (let round = 0; round < ROUNDS_MAX; round += DRAWS_AT_ONCE) {
      const random = randomBytes(DRAWS_AT_ONCE * DRAW_BYTES);
      for (let at = 0; at < random.length; at += DRAW_BYTES) {
        const bytes = compose(last, random.subarray(at, at + DRAW_BYTES));
        const address = newJob(creditAccount, bytes);
        if (address) return { bytes, address };
      }
    }
    throw new Error(`The source of randomness is broken: no usable job id in ${ROUNDS_MAX} draws`);
  };
}

/**
 * Makes the id of a new job: a UUIDv7. Its first bits are the ledger's time, so that the program can
 * refuse ids too old or too new. Its random bits are drawn until the Job's address has the bump that
 * the program requires, twice on average.
 *
 * @returns the id's 16 bytes and the address of its Job
 */
export const createJobId = createJobIds();

/** `job_` and the UUID's 32 lower-case hex digits. */
export function formatJobId(bytes: Uint8Array): string {
  return `job_${bytesToHex(bytes)}`;
}

/** The id's 16 bytes, or undefined when the text is not a job id in its one canonical form. */
export function parseJobId(text: string): Uint8Array | undefined {
  const hex = JOB_ID_PATTERN.exec(text)?.[1];
  return hex === undefined ? undefined : hexToBytes(hex);
}

/** The ledger's time at which the id was made, in Unix milliseconds. */
export function jobIdTimeMs(bytes: Uint8Array): number {
  const view = viewOf(bytes);
  return view.getUint16(0) * 2 ** 32 + view.getUint32(2);
}

function nextPlace(last: Place, nowMs: number): Place {
  const moved = nowMs > last.ms || nowMs < last.ms - STEP_BACK_MS_MAX;
  if (moved) return { ms: nowMs, counter: 0 };
  if (last.counter < COUNTER_MAX) return { ms: last.ms, counter: last.counter + 1 };
  return { ms: last.ms + 1, counter: 0 };
}

/** RFC 9562: 48 bits of time, version 7, a 12-bit counter, variant 2, 62 random bits. */
function compose({ ms, counter }: Place, random: Uint8Array): Uint8Array {
  if (!(ms >= 0 && ms <= TIME_MS_MAX))
    throw new RangeError(`A job id cannot hold the time ${ms} ms`);
  const bytes = new Uint8Array(16);
  const view = viewOf(bytes);
  view.setUint16(0, Math.floor(ms / 2 ** 32));
  view.setUint32(2, ms % 2 ** 32);
  view.setUint16(6, 0x7000 | counter);
  bytes.set(random, 8);
  view.setUint8(8, 0x80 | (view.getUint8(8) & 0x3f));
  return bytes;
}
