import { base58 } from '@scure/base';
import type { PublicKey } from '@solana/web3.js';
import { encodeEvent, fieldsOf, number, set } from '../fields.ts';
import {
  all,
  anyEvent,
  type Change,
  eventsOf,
  inAccount,
  inEvent,
  inMeta,
  inPlaceOf,
  inTransaction,
} from '../nodeChanges.ts';
import { withChanges } from '../snapshot.ts';
import { type Condition, row, rows, type Subjects } from './condition.ts';

function places({ jobs: { settled, failed } }: Subjects): Condition[] {
  const swapped = all(
    inEvent(settled, 'JobProven', set({ job_sequence: 4 })),
    inEvent(settled, 'JobSettled', set({ job_sequence: 3 })),
  );
  const moved = (where: 'push' | 'unshift') =>
    inMeta(settled, 'JobSettled', ({ innerInstructions }) => {
      const [proof, settlement] = innerInstructions;
      proof?.instructions[where](...(settlement?.instructions.splice(-1) ?? []));
    });
  const inSlotOfLock =
    (later: number): Change =>
    (node) => {
      const slot = number(anyEvent(node, 'JobLocked', settled).slot).addn(later);
      return all(
        inEvent(settled, 'JobAcknowledged', set({ slot })),
        inTransaction(settled, 'JobAcknowledged', (shown) => ({ ...shown, slot: slot.toNumber() })),
      )(node);
    };
  const alone = all(
    inTransaction(failed, 'JobLocked', () => null),
    inEvent(failed, 'JobFailed', set({ job_sequence: 1 })),
  );
  const [holds, fails] = ['holds history.sequence', 'fails history.sequence'];
  return [
    ...rows(settled, {
      'changes of one transaction in another order': [swapped, fails],
      'a change before the one before it, in one instruction': [moved('unshift'), fails],
      'a change behind the one before it, in one instruction': [moved('push'), holds],
      'a change in the slot of the one before it': [inSlotOfLock(0), holds],
      'a change in an earlier slot than the one before it': [inSlotOfLock(-1), fails],
      'the bytes of another version than the node names': [
        inTransaction(settled, 'JobSettled', (shown) => ({ ...shown, version: 0 })),
        'fails history.signatures',
      ],
    }),
    row('a failure as the first change', failed, alone, fails),
  ];
}

type Recast = readonly [event: string, other: string];

/** One change of a job, recast as another, which cannot follow on the state. */
const IMPOSSIBLE: readonly ['alone' | 'expired', state: string, ...Recast][] = [
  ['alone', 'pending', 'JobAcknowledged', 'JobLocked'],
  ['alone', 'pending', 'JobAcknowledged', 'JobProven'],
  ['alone', 'pending', 'JobAcknowledged', 'JobSettled'],
  ['alone', 'pending', 'JobAcknowledged', 'JobDisputed'],
  ['alone', 'pending', 'JobAcknowledged', 'JobClosed'],
  ['alone', 'processing', 'JobProven', 'JobSettled'],
  ['alone', 'processing', 'JobProven', 'JobClosed'],
  ['alone', 'settling', 'JobSettled', 'JobProven'],
  ['alone', 'settling', 'JobSettled', 'JobCompleted'],
  ['alone', 'settling', 'JobSettled', 'JobDisputed'],
  ['alone', 'settling', 'JobSettled', 'JobClosed'],
  ['expired', 'settled', 'JobDisputed', 'DisputeAmended'],
  ['expired', 'settled', 'JobDisputed', 'DisputeResolved'],
  ['expired', 'settled', 'JobDisputed', 'DisputeExpired'],
  ['expired', 'settled', 'JobDisputed', 'JobFailed'],
  ['expired', 'settled', 'JobDisputed', 'JobRefunded'],
  ['expired', 'settled', 'JobDisputed', 'JobAcknowledged'],
  ['expired', 'disputed', 'DisputeAmended', 'JobClosed'],
  ['expired', 'disputed', 'DisputeAmended', 'JobDisputed'],
];

/** The changes of a job, of which some are recast as others. */
function states({ jobs }: Subjects): Condition[] {
  const { alone, expired } = jobs;
  const recast = (job: PublicKey, ...events: readonly Recast[]): Change =>
    all(...events.map(([event, other]) => inPlaceOf(job, event, other)));
  const [holds, fails] = ['holds history.states', 'fails history.states'];
  const closedAfter = (ending: string) =>
    recast(alone, ['JobProven', ending], ['JobSettled', 'JobClosed']);
  return [
    ...rows(alone, {
      'settling, JobAcknowledged': [recast(alone, ['JobSettled', 'JobAcknowledged']), holds],
      'settling, JobFailed': [recast(alone, ['JobSettled', 'JobFailed']), holds],
      'settling, JobRefunded': [recast(alone, ['JobSettled', 'JobRefunded']), holds],
      'processing, JobFailed, JobClosed': [closedAfter('JobFailed'), holds],
      'processing, JobRefunded, JobClosed': [closedAfter('JobRefunded'), holds],
      'an impossible change of a record that is not whole': [
        all(
          recast(alone, ['JobSettled', 'JobProven']),
          inAccount(alone, 'Job', set({ sequence: 9 })),
        ),
        'not_checkable history.states',
      ],
    }),
    ...IMPOSSIBLE.map(([name, state, ...events]) =>
      row(`${state}, ${events[1]}`, jobs[name], recast(jobs[name], events), fails),
    ),
    ...rows(expired, {
      'disputed, DisputeAmended twice': [
        recast(expired, ['DisputeExpired', 'DisputeAmended']),
        holds,
      ],
      'settled, JobDisputed a second time': [
        all(
          inPlaceOf(expired, 'DisputeExpired', 'JobDisputed'),
          inPlaceOf(
            expired,
            'DisputeAmended',
            'DisputeResolved',
            set({ verdict: { Rejected: {} } }),
          ),
        ),
        fails,
      ],
    }),
  ];
}

const OTHER_NAME = base58.encode(Buffer.alloc(64, 7));

/** A failure under another name, and bytes that look like changes. */
function imitations({ jobs: { failed } }: Subjects): Condition[] {
  const renamed: Change = (node) => {
    const key = failed.toBase58();
    const [newest, ...rows] = node.signatures[key] ?? [];
    if (!newest) throw new Error('no failure is listed');
    return withChanges(node, {
      transactions: { [OTHER_NAME]: node.transactions[newest.signature] ?? null },
      signatures: { [key]: [{ ...newest, signature: OTHER_NAME }, ...rows] },
    });
  };
  /** The failure once more, which another program says. */
  const imitated = (job_sequence: number) =>
    inMeta(failed, 'JobFailed', (meta) => {
      const [call] = eventsOf({ meta }, 'JobFailed', failed);
      const calls = meta.innerInstructions.find(({ instructions }) =>
        instructions.some((one) => one === call),
      );
      if (!call) throw new Error('there is no failure');
      const data = encodeEvent('JobFailed', { ...fieldsOf(call), job_sequence });
      calls?.instructions.push({ ...call, programIdIndex: 0, data });
    });
  const notWhole = inAccount(failed, 'Job', set({ sequence: 9 }));
  return rows(failed, {
    'a transaction under another name': [renamed, 'fails history.signatures'],
    'an imitation beside a whole record': [imitated(3), 'holds history.authenticity'],
    'an imitation of a change that is there': [
      all(imitated(2), notWhole),
      'holds history.authenticity',
    ],
    'an imitation of a change that is not there': [
      all(imitated(3), notWhole),
      'fails history.authenticity',
    ],
  });
}

/** Places on the ledger, and states. */
export const historyConditions = [places, states, imitations];
