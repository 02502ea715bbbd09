import { base58 } from '@scure/base';
import { Keypair, SystemProgram } from '@solana/web3.js';
import type { InstructionJson, TransactionJson } from '../../../auditors/forgeries/node.ts';
import {
  all,
  anyEvent,
  type Change,
  inAccount,
  inList,
  inMeta,
  inTransaction,
  later,
  withAccount,
} from '../nodeChanges.ts';
import { withChanges } from '../snapshot.ts';
import type { Condition, Subjects } from './condition.ts';

const STRANGER = Keypair.generate().publicKey;
/** Of a transaction that the node does not have. */
const ABSENT = base58.encode(Buffer.alloc(64, 9));
const FAILED = { InstructionError: [0, { Custom: 6000 }] };

/** Lists, transactions, events and accounts. */
export const readingConditions = (subjects: Subjects): Condition[] => [
  ...lists(subjects),
  ...transactions(subjects),
  ...accounts(subjects),
];

function lists({ jobs: { alone, failed, refunded } }: Subjects): Condition[] {
  const inPages: Change = (node) => ({ ...node, page: 1 });
  const asFailed: Change = inList(failed, ([newest, ...older]) => [
    { ...(newest as never as object), err: FAILED } as never,
    ...older,
  ]);
  const again: Change = inList(failed, (rows) => [...rows, ...rows.slice(0, 1)]);
  const absent: Change = inList(refunded, (rows) => [
    { signature: ABSENT, slot: rows[0]?.slot ?? 0, err: null },
    ...rows,
  ]);
  const known = {
    'history.sequence': 'holds',
    'lock.balances': 'holds',
    'proof.key': 'holds',
  } as const;
  return [
    { name: 'lists of one entry a page', job: alone, change: inPages, is: known },
    {
      ...{ name: 'a failure that is listed as failed', job: failed, change: asFailed },
      is: { 'failure.returned': 'not_checkable' },
    },
    { name: 'a list whose first entry comes again', job: failed, change: again, is: 'refused' },
    {
      ...{ name: 'a transaction that is not shown, of no change', job: refunded, change: absent },
      is: { 'history.sequence': 'holds', 'refund.returned': 'holds' },
    },
  ];
}

/** What a transaction of the failed job has beside its event. */
function transactions({ jobs: { failed } }: Subjects): Condition[] {
  const called = (change: (call: InstructionJson, transaction: TransactionJson['meta']) => void) =>
    inMeta(failed, 'JobFailed', (meta) => {
      for (const { instructions } of meta.innerInstructions) {
        const call = instructions.at(-1);
        if (call) change(call, meta);
      }
    });
  const added = (change: (call: InstructionJson) => object) =>
    inMeta(failed, 'JobFailed', ({ innerInstructions: [inner] }) => {
      const call = inner?.instructions.at(-1);
      if (call) inner?.instructions.push({ ...call, ...change(call) });
    });
  const data = (call: InstructionJson, change: (bytes: Uint8Array) => Uint8Array) => ({
    data: base58.encode(change(base58.decode(call.data))),
  });
  const unknown = (call: InstructionJson) =>
    data(call, (bytes) => bytes.with(8, (bytes[8] ?? 0) ^ 1));
  const returned = (verdict: 'holds' | 'fails' | 'not_checkable') =>
    ({ 'failure.returned': verdict }) as const;
  const wire = (change: (bytes: Buffer) => Buffer): Change =>
    inTransaction(failed, 'JobFailed', (shown) => ({
      ...shown,
      transaction: [
        change(Buffer.from(shown.transaction[0], 'base64')).toString('base64'),
        'base64',
      ],
    }));
  const byte = Buffer.from([0]);
  const list: [string, Change, Condition['is']][] = [
    [
      'a failure by a transaction that failed',
      inMeta(failed, 'JobFailed', (meta) => {
        meta.err = FAILED;
      }),
      returned('not_checkable'),
    ],
    [
      'a transaction without its meta',
      inTransaction(failed, 'JobFailed', (shown) => ({
        ...shown,
        meta: null,
      })),
      returned('not_checkable'),
    ],
    ['an event that is not known', added(unknown), 'refused'],
    [
      'an event with a byte more',
      added((call) => data(call, (bytes) => Buffer.concat([bytes, byte]))),
      'refused',
    ],
    [
      'an event that is not known, by another program',
      added((call) => ({
        ...unknown(call),
        programIdIndex: 0,
      })),
      returned('holds'),
    ],
    [
      'an event that is not known, with two accounts',
      added((call) => ({
        ...unknown(call),
        accounts: [...call.accounts, ...call.accounts],
      })),
      returned('holds'),
    ],
    [
      'an event that is not known, with another account',
      added((call) => ({
        ...unknown(call),
        accounts: [0],
      })),
      returned('holds'),
    ],
    [
      'a call of another tag',
      added((call) => data(call, (bytes) => bytes.with(0, 0))),
      returned('holds'),
    ],
    [
      'the failure with two accounts',
      called((call) => {
        call.accounts = [...call.accounts, 0];
      }),
      returned('not_checkable'),
    ],
    [
      'the failure with another account',
      called((call) => {
        call.accounts = [0];
      }),
      returned('not_checkable'),
    ],
    ['a transaction with a byte more', wire((bytes) => Buffer.concat([bytes, byte])), 'refused'],
    ['a transaction with a byte less', wire((bytes) => bytes.subarray(0, -1)), 'refused'],
    [
      'a signature less than there are signers',
      wire((bytes) => {
        const rest = bytes.subarray(1 + 64 * (bytes[0] ?? 0));
        return Buffer.concat([Buffer.from([1]), bytes.subarray(1, 65), rest]);
      }),
      { 'history.signatures': 'fails' },
    ],
    [
      'a signature more than there are signers',
      wire((bytes) =>
        Buffer.concat([
          Buffer.from([(bytes[0] ?? 0) + 1]),
          bytes.subarray(1, 65),
          bytes.subarray(1),
        ]),
      ),
      { 'history.signatures': 'fails' },
    ],
    [
      'a byte of its second signature',
      wire((bytes) => Buffer.from(bytes.with(70, (bytes[70] ?? 0) ^ 1))),
      { 'history.signatures': 'fails' },
    ],
    ['a message of version 2', wire(inFront(0x82)), 'refused'],
    ['a message of version 1 behind its signatures', wire(inFront(0x81)), 'refused'],
    [
      'a message of version 0 with a table',
      all(
        wire((bytes) =>
          Buffer.concat([inFront(0x80)(bytes), Buffer.from([1]), bytes.subarray(1, 33), TABLE]),
        ),
        inTransaction(failed, 'JobFailed', (shown) => ({ ...shown, version: 0 })),
      ),
      { 'history.signatures': 'fails', 'failure.returned': 'holds' },
    ],
    [
      'a count in more bytes than it needs',
      wire((bytes) => Buffer.concat([Buffer.from([(bytes[0] ?? 0) | 0x80, 0]), bytes.subarray(1)])),
      'refused',
    ],
  ];
  return list.map(([name, change, is]) => ({ name, job: failed, change, is }));
}

function accounts({ jobs: { failed, closed, open, refunded } }: Subjects): Condition[] {
  const bytes = (change: (data: Buffer) => Buffer) =>
    withAccount(refunded, (held, data) => ({
      ...held,
      data: [change(data).toString('base64'), 'base64'],
    }));
  const changed = (at: number, value: number) => bytes((data) => Buffer.from(data.with(at, value)));
  const copied =
    (change: (held: object) => object): Change =>
    (node) =>
      withChanges(node, {
        accounts: { [closed.toBase58()]: change(node.accounts[open.toBase58()] ?? {}) as never },
      });
  const empty = { data: ['', 'base64'], owner: SystemProgram.programId.toBase58() };
  const state = (verdict: 'fails' | 'not_checkable' | 'not_applicable') =>
    ({ 'account.state': verdict }) as const;
  const after = (is: Condition['is']) => ({ job: closed, is });
  return [
    ...[
      ['of another kind', changed(0, 1)],
      ['of another version', changed(8, 2)],
      ['with a byte less', bytes((data) => data.subarray(0, -1))],
      ['with a byte more', bytes((data) => Buffer.concat([data, Buffer.from([0])]))],
    ].map(([name, change]) => ({
      name: `an account ${name}`,
      job: refunded,
      change,
      is: state('fails'),
    })),
    {
      ...{ name: 'an account of the system program, without data', job: refunded },
      change: withAccount(refunded, (held) => ({ ...held, ...empty })),
      is: state('not_checkable'),
    },
    {
      ...{ name: 'an account of the system program, with data', job: refunded },
      change: withAccount(refunded, (held) => ({ ...held, owner: empty.owner })),
      is: state('fails'),
    },
    {
      ...{ name: 'an account from before the last change', job: failed },
      change: inAccount(failed, 'Job', () => ({ sequence: 1 })),
      is: state('not_checkable'),
    },
    {
      ...{ name: 'an account from after the last change', job: failed },
      change: inAccount(failed, 'Job', () => ({ sequence: 3 })),
      is: state('not_checkable'),
    },
    {
      ...{
        name: 'lamports where a job was closed',
        ...after({ ...state('not_applicable'), 'account.closed': 'holds' }),
      },
      change: copied((held) => ({ ...held, ...empty })),
    },
    {
      ...{
        name: 'an account where a job was closed',
        ...after({ 'account.closed': 'not_checkable' }),
      },
      change: copied((held) => held),
    },
    {
      ...{
        name: 'a later account where a job was closed',
        ...after({ 'account.closed': 'fails' }),
      },
      change: all(
        copied((held) => held),
        inAccount(closed, 'Job', () => ({ sequence: 5 })),
      ),
    },
    {
      ...{
        name: 'another program’s account where a job was closed',
        ...after({ 'account.closed': 'fails' }),
      },
      change: copied((held) => ({ ...held, owner: STRANGER.toBase58() })),
    },
    ...(
      [
        [60, 'holds'],
        [61, 'fails'],
      ] as const
    ).map(([seconds, verdict]) => ({
      ...{
        name: `an open job that is ${seconds} s overdue`,
        job: open,
        is: { 'deadline.open': verdict },
      },
      change: ((node) => {
        const lock = anyEvent(node, 'JobLocked', open) as never as {
          unix_time: string;
          job_timeout_seconds: number;
        };
        const due = Number(lock.unix_time) + lock.job_timeout_seconds;
        return later(due + seconds - node.unix_time)(node);
      }) as Change,
    })),
    {
      ...{ name: 'a list that is empty, of a job with an account', job: open },
      change: inList(open, () => []),
      is: {
        'history.signatures': 'not_checkable',
        'deadline.open': 'not_checkable',
        ...state('not_checkable'),
      },
    },
  ] as Condition[];
}

/** One index that is written, and none that is only read. */
const TABLE = Buffer.from([1, 5, 0]);

/** A byte before the message, which says its version. */
const inFront = (byte: number) => (bytes: Buffer) => {
  const at = 1 + 64 * (bytes[0] ?? 0);
  return Buffer.concat([bytes.subarray(0, at), Buffer.from([byte]), bytes.subarray(at)]);
};
