import type { PublicKey } from '@solana/web3.js';
import { number } from '../fields.ts';
import { anyEvent, type Change, inEvent } from '../nodeChanges.ts';
import { type Condition, row, type Subjects } from './condition.ts';

/** What begins a time, and the lock's term for its length. */
const WORK = ['work', 'JobLocked', 'job_timeout_seconds'];
const WINDOW = ['window', 'JobSettled', 'dispute_window_seconds'];
const WINDOW_AT_ONCE = ['window', 'JobCompleted', 'dispute_window_seconds'];
const ARBITRATION = ['arbitration', 'JobDisputed', 'arbitration_window_seconds'];

/** Which event of which job, its rule, and whether that holds in the last second of a time. */
const BOUNDED: [keyof Subjects['jobs'], string, bound: string[], rule: string, boolean][] = [
  ['settled', 'JobAcknowledged', WORK, 'acknowledged', true],
  ['settled', 'JobProven', WORK, 'proven', true],
  ['settled', 'JobSettled', WORK, 'settled', true],
  ['failed', 'JobFailed', WORK, 'failed', true],
  ['refunded', 'JobRefunded', WORK, 'refunded', false],
  ['expired', 'JobDisputed', WINDOW, 'disputed', true],
  ['upheld', 'DisputeResolved', WINDOW_AT_ONCE, 'resolved', false],
  ['expired', 'DisputeAmended', ARBITRATION, 'amended', true],
  ['upheld', 'DisputeResolved', ARBITRATION, 'resolved', true],
  ['expired', 'DisputeExpired', ARBITRATION, 'expired', false],
];

/** Events in the last second of a time that bounds them, and one second later. */
export const boundaries = ({ jobs }: Subjects): Condition[] =>
  BOUNDED.flatMap(([name, event, bound, rule, holds]) =>
    [true, false].map((isInTime) =>
      row(
        `${event} ${isInTime ? 'in the last second of' : 'a second after'} its ${bound[0]}`,
        jobs[name],
        atEnd(jobs[name], event, bound, isInTime ? 0 : 1),
        `${holds === isInTime ? 'holds' : 'fails'} deadline.${rule}`,
      ),
    ),
  );

const atEnd =
  (job: PublicKey, event: string, [, begins = '', term = '']: string[], later: number): Change =>
  (node) => {
    const start = number(anyEvent(node, begins, job).unix_time);
    const length = Number(anyEvent(node, 'JobLocked', job)[term]);
    return inEvent(job, event, () => ({ unix_time: start.addn(length + later) }))(node);
  };
