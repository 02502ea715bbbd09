import { base58 } from '@scure/base';
import type { PublicKey } from '@solana/web3.js';
import { fieldsOf } from '../fields.ts';
import { eventsOf, inList, inMeta, inTransaction, withAccount } from '../nodeChanges.ts';
import { jsonTransaction, snapshotTransaction } from '../snapshot.ts';
import { type Condition, row, rows, type Subjects } from './condition.ts';

/** Of a transaction that the node does not have. */
const STRANGE = base58.encode(Buffer.alloc(64, 7));

/** Evidence that is missing contradicts nothing. */
function hidden({ jobs }: Subjects): Condition[] {
  const list: [keyof typeof jobs, string, string][] = [
    ['settled', 'JobLocked', 'lock.price settlement.charge'],
    ['settled', 'JobAcknowledged', 'work.assignment'],
    ['settled', 'JobSettled', 'proof.signature settlement.share'],
    ['completed', 'JobCompleted', 'proof.signature proof.hash'],
    ['alone', 'JobProven', 'proof.signature proof.hash'],
    ['expired', 'JobDisputed', 'dispute.expired deadline.disputed'],
    ['expired', 'DisputeExpired', 'dispute.expired'],
    ['closed', 'JobClosed', 'account.state account.closed'],
  ];
  const ofLastWorker = inTransaction(jobs.reassigned, 'JobAcknowledged', (shown) => {
    const [event] = eventsOf(shown, 'JobAcknowledged', jobs.reassigned).map(fieldsOf);
    return event?.attempt === 2 ? null : shown;
  });
  return [
    ...list.map(([job, event, rules]) =>
      row(
        `without its ${event} (${job})`,
        jobs[job],
        inTransaction(undefined, event, () => null),
        `not_checkable history.sequence ${rules}`,
      ),
    ),
    row(
      'without its last worker (reassigned)',
      jobs.reassigned,
      ofLastWorker,
      'not_checkable history.sequence work.assignment',
    ),
  ];
}

function unlisted({ jobs: { settled }, service }: Subjects): Condition[] {
  const none = (of: PublicKey) => inList(of, () => []);
  return rows(settled, {
    'without the newest entry of its list': [
      inList(settled, (listed) => listed.slice(1)),
      'not_checkable history.sequence settlement.charge',
    ],
    'without its account': [
      withAccount(settled, () => null),
      'not_checkable history.sequence account.state',
    ],
    'without what the worker’s authority signed': [
      none(service.workerAuthority.publicKey),
      'not_checkable proof.key settlement.worker_payment',
    ],
    'without the list of the credit account': [
      none(service.creditAccount),
      'not_checkable lock.balances settlement.balances',
    ],
    'an event that another program sent': [
      inMeta(settled, 'JobSettled', (meta) => {
        for (const event of eventsOf({ meta }, 'JobSettled', settled)) event.programIdIndex = 0;
      }),
      'fails history.authenticity, not_checkable settlement.charge',
    ],
    'a mention that cannot be read': [
      inList(settled, ([newest, ...older]) =>
        newest ? [{ ...newest, signature: STRANGE }, newest, ...older] : [],
      ),
      'holds history.sequence',
    ],
  });
}

/** Transactions of a version that no reader knows. */
function unknownVersions({ jobs: { settled, refunded } }: Subjects): Condition[] {
  const list: [PublicKey, string][] = [
    [settled, 'JobSettled'],
    [refunded, 'JobRefunded'],
  ];
  return list.map(([job, event]) =>
    row(
      `a transaction of an unknown version: ${event}`,
      job,
      inTransaction(job, event, (shown) =>
        snapshotTransaction({ ...jsonTransaction(shown), version: 7 }),
      ),
      'not_checkable history.sequence account.state',
    ),
  );
}

/** What a node keeps to itself, or shows in a form that is not known. */
export const omissions = [hidden, unlisted, unknownVersions];
