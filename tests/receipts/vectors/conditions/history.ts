import type anchor from '@coral-xyz/anchor';
import { base58 } from '@scure/base';
import type { PublicKey } from '@solana/web3.js';
import {
  all,
  anyEvent,
  type Change,
  encodeEvent,
  eventsOf,
  fieldsOf,
  inAccount,
  inEvent,
  inMeta,
  inPlaceOf,
  inTransaction,
} from '../nodeChanges.ts';
import { withChanges } from '../snapshot.ts';
import type { Condition, Subjects } from './condition.ts';

/** Places on the ledger, and states. */
export const historyConditions = (subjects: Subjects): Condition[] => [
  ...places(subjects),
  ...states(subjects),
  ...imitations(subjects),
];

function places({ jobs: { settled, failed } }: Subjects): Condition[] {
  const swapped = all(
    inEvent(settled, 'JobProven', () => ({ job_sequence: 4 })),
    inEvent(settled, 'JobSettled', () => ({ job_sequence: 3 })),
  );
  const moved = (where: 'push' | 'unshift') =>
    inMeta(settled, 'JobSettled', ({ innerInstructions }) => {
      const [proof, settlement] = innerInstructions;
      proof?.instructions[where](...(settlement?.instructions.splice(-1) ?? []));
    });
  const inSlotOfLock =
    (later: number): Change =>
    (node) => {
      const lock = anyEvent(node, 'JobLocked', settled) as { slot: anchor.BN };
      const slot = lock.slot.addn(later);
      return all(
        inEvent(settled, 'JobAcknowledged', () => ({ slot })),
        inTransaction(settled, 'JobAcknowledged', (shown) => ({ ...shown, slot: slot.toNumber() })),
      )(node);
    };
  const alone = all(
    inTransaction(failed, 'JobLocked', () => null),
    inEvent(failed, 'JobFailed', () => ({ job_sequence: 1 })),
  );
  const rule = 'history.sequence';
  return [
    ['changes of one transaction in another order', settled, swapped, 'fails'],
    ['a change before the one before it, in one instruction', settled, moved('unshift'), 'fails'],
    ['a change behind the one before it, in one instruction', settled, moved('push'), 'holds'],
    ['a change in the slot of the one before it', settled, inSlotOfLock(0), 'holds'],
    ['a change in an earlier slot than the one before it', settled, inSlotOfLock(-1), 'fails'],
    ['a failure as the first change', failed, alone, 'fails'],
  ].map(
    ([name, job, change, verdict]) => ({ name, job, change, is: { [rule]: verdict } }) as never,
  );
}

/** The changes of a job, of which some are recast as others. */
function states({ jobs: { alone, expired } }: Subjects): Condition[] {
  const recast = (job: PublicKey, ...events: readonly (readonly [string, string])[]): Change =>
    all(...events.map(([event, other]) => inPlaceOf(job, event, other)));
  const oneRecast =
    (job: PublicKey) =>
    ([state, event = '', other = '']: readonly string[]): [string, PublicKey, Change] => [
      `${state}, ${other}`,
      job,
      recast(job, [event, other]),
    ];
  const possible: [string, PublicKey, Change][] = [
    ['settling, JobAcknowledged', alone, recast(alone, ['JobSettled', 'JobAcknowledged'])],
    ['settling, JobFailed', alone, recast(alone, ['JobSettled', 'JobFailed'])],
    ['settling, JobRefunded', alone, recast(alone, ['JobSettled', 'JobRefunded'])],
    [
      'processing, JobFailed, JobClosed',
      alone,
      recast(alone, ['JobProven', 'JobFailed'], ['JobSettled', 'JobClosed']),
    ],
    [
      'processing, JobRefunded, JobClosed',
      alone,
      recast(alone, ['JobProven', 'JobRefunded'], ['JobSettled', 'JobClosed']),
    ],
    [
      'disputed, DisputeAmended twice',
      expired,
      recast(expired, ['DisputeExpired', 'DisputeAmended']),
    ],
  ];
  const impossible: [string, PublicKey, Change][] = [
    ...[
      ['pending', 'JobAcknowledged', 'JobLocked'],
      ['pending', 'JobAcknowledged', 'JobProven'],
      ['pending', 'JobAcknowledged', 'JobSettled'],
      ['pending', 'JobAcknowledged', 'JobDisputed'],
      ['pending', 'JobAcknowledged', 'JobClosed'],
      ['processing', 'JobProven', 'JobSettled'],
      ['processing', 'JobProven', 'JobClosed'],
      ['settling', 'JobSettled', 'JobProven'],
      ['settling', 'JobSettled', 'JobCompleted'],
      ['settling', 'JobSettled', 'JobDisputed'],
      ['settling', 'JobSettled', 'JobClosed'],
    ].map(oneRecast(alone)),
    ...[
      ['settled', 'JobDisputed', 'DisputeAmended'],
      ['settled', 'JobDisputed', 'DisputeResolved'],
      ['settled', 'JobDisputed', 'DisputeExpired'],
      ['settled', 'JobDisputed', 'JobFailed'],
      ['settled', 'JobDisputed', 'JobRefunded'],
      ['settled', 'JobDisputed', 'JobAcknowledged'],
      ['disputed', 'DisputeAmended', 'JobClosed'],
      ['disputed', 'DisputeAmended', 'JobDisputed'],
    ].map(oneRecast(expired)),
    [
      'settled, JobDisputed a second time',
      expired,
      all(
        inPlaceOf(expired, 'DisputeExpired', 'JobDisputed'),
        inPlaceOf(expired, 'DisputeAmended', 'DisputeResolved', () => ({
          verdict: { Rejected: {} },
        })),
      ),
    ],
  ];
  const rule = 'history.states';
  const notWhole = (job: PublicKey, change: Change) =>
    all(
      change,
      inAccount(job, 'Job', () => ({ sequence: 9 })),
    );
  return [
    ...possible.map(([name, job, change]) => ({ name, job, change, is: { [rule]: 'holds' } })),
    ...impossible.map(([name, job, change]) => ({ name, job, change, is: { [rule]: 'fails' } })),
    {
      ...{ name: 'an impossible change of a record that is not whole', job: alone },
      change: notWhole(alone, recast(alone, ['JobSettled', 'JobProven'])),
      is: { [rule]: 'not_checkable' },
    },
  ] as Condition[];
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
    inMeta(failed, 'JobFailed', ({ innerInstructions }) => {
      for (const { instructions } of innerInstructions) {
        const [call] = eventsOf({ meta: { innerInstructions } }, 'JobFailed', failed);
        if (!call || !instructions.includes(call)) continue;
        const data = encodeEvent('JobFailed', { ...fieldsOf(call), job_sequence });
        instructions.push({ ...call, programIdIndex: 0, data });
      }
    });
  const notWhole = inAccount(failed, 'Job', () => ({ sequence: 9 }));
  const rule = 'history.authenticity';
  return [
    {
      ...{ name: 'a transaction under another name', job: failed, change: renamed },
      is: { 'history.signatures': 'fails' },
    },
    {
      ...{ name: 'an imitation beside a whole record', job: failed, change: imitated(3) },
      is: { [rule]: 'holds' },
    },
    {
      ...{ name: 'an imitation of a change that is there', job: failed },
      ...{ change: all(imitated(2), notWhole), is: { [rule]: 'holds' } },
    },
    {
      ...{ name: 'an imitation of a change that is not there', job: failed },
      ...{ change: all(imitated(3), notWhole), is: { [rule]: 'fails' } },
    },
  ];
}
