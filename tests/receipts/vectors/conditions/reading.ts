import { base58 } from '@scure/base';
import { Keypair, SystemProgram } from '@solana/web3.js';
import { type InstructionJson, set } from '../fields.ts';
import {
  all,
  anyEvent,
  type Change,
  inAccount,
  inList,
  inMeta,
  inTransaction,
  withAccount,
} from '../nodeChanges.ts';
import { type SnapshotAccount, withChanges } from '../snapshot.ts';
import { type Condition, rows, type Subjects } from './condition.ts';

const STRANGER = Keypair.generate().publicKey;
/** Of a transaction that the node does not have. */
const ABSENT = base58.encode(Buffer.alloc(64, 9));
const FAILED = { InstructionError: [0, { Custom: 6000 }] };
const RETURNED = 'holds failure.returned';
const NOT_RETURNED = 'not_checkable failure.returned';

const lists = ({ jobs: { alone, failed, refunded } }: Subjects): Condition[] => [
  ...rows(alone, {
    'lists of one entry a page': [
      (node) => ({ ...node, page: 1 }),
      'holds history.sequence lock.balances proof.key',
    ],
  }),
  ...rows(failed, {
    'a failure that is listed as failed': [
      inList(failed, ([newest, ...older]) =>
        newest ? [{ ...newest, err: FAILED }, ...older] : [],
      ),
      NOT_RETURNED,
    ],
    'a list whose first entry comes again': [
      inList(failed, (listed) => [...listed, ...listed.slice(0, 1)]),
      'refused',
    ],
  }),
  ...rows(refunded, {
    'a transaction that is not shown, of no change': [
      inList(refunded, (listed) => [
        { signature: ABSENT, slot: listed[0]?.slot ?? 0, err: null },
        ...listed,
      ]),
      'holds history.sequence refund.returned',
    ],
  }),
];

/** What a transaction of the failed job has beside its event. */
function calls({ jobs: { failed } }: Subjects): Condition[] {
  const called = (change: (call: InstructionJson) => void) =>
    inMeta(failed, 'JobFailed', (meta) => {
      for (const { instructions } of meta.innerInstructions) {
        const call = instructions.at(-1);
        if (call) change(call);
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
  const unknown = (change: (call: InstructionJson) => object) =>
    added((call) => ({
      ...data(call, (bytes) => bytes.with(8, (bytes[8] ?? 0) ^ 1)),
      ...change(call),
    }));
  return rows(failed, {
    'a failure by a transaction that failed': [
      inMeta(failed, 'JobFailed', (meta) => {
        meta.err = FAILED;
      }),
      NOT_RETURNED,
    ],
    'a transaction without its meta': [
      inTransaction(failed, 'JobFailed', (shown) => ({ ...shown, meta: null })),
      NOT_RETURNED,
    ],
    'an event that is not known': [unknown(() => ({})), 'refused'],
    'an event with a byte more': [
      added((call) => data(call, (bytes) => Uint8Array.of(...bytes, 0))),
      'refused',
    ],
    'an event that is not known, by another program': [
      unknown(() => ({ programIdIndex: 0 })),
      RETURNED,
    ],
    'an event that is not known, with two accounts': [
      unknown(({ accounts }) => ({ accounts: [...accounts, ...accounts] })),
      RETURNED,
    ],
    'an event that is not known, with another account': [
      unknown(() => ({ accounts: [0] })),
      RETURNED,
    ],
    'a call of another tag': [added((call) => data(call, (bytes) => bytes.with(0, 0))), RETURNED],
    'the failure with two accounts': [called((call) => call.accounts.push(0)), NOT_RETURNED],
    'the failure with another account': [
      called((call) => {
        call.accounts = [0];
      }),
      NOT_RETURNED,
    ],
  });
}

/** One index that is written, and none that is only read. */
const TABLE = Buffer.from([1, 5, 0]);

/** A byte before the message, which says its version. */
const inFront = (byte: number) => (bytes: Buffer) => {
  const at = 1 + 64 * (bytes[0] ?? 0);
  return Buffer.concat([bytes.subarray(0, at), Buffer.from([byte]), bytes.subarray(at)]);
};

/** The bytes of a transaction: how many signatures, these, and the message. */
function bytes({ jobs: { failed } }: Subjects): Condition[] {
  const wire = (change: (bytes: Buffer) => Uint8Array): Change =>
    inTransaction(failed, 'JobFailed', (shown) => {
      const changed = Buffer.from(change(Buffer.from(shown.transaction[0], 'base64')));
      return { ...shown, transaction: [changed.toString('base64'), 'base64'] };
    });
  const unsigned = 'fails history.signatures';
  return rows(failed, {
    'a transaction with a byte more': [wire((bytes) => Uint8Array.of(...bytes, 0)), 'refused'],
    'a transaction with a byte less': [wire((bytes) => bytes.subarray(0, -1)), 'refused'],
    'a signature less than there are signers': [
      wire((bytes) => {
        const rest = bytes.subarray(1 + 64 * (bytes[0] ?? 0));
        return Buffer.concat([Buffer.from([1]), bytes.subarray(1, 65), rest]);
      }),
      unsigned,
    ],
    'a signature more than there are signers': [
      wire((bytes) => {
        const count = Buffer.from([(bytes[0] ?? 0) + 1]);
        return Buffer.concat([count, bytes.subarray(1, 65), bytes.subarray(1)]);
      }),
      unsigned,
    ],
    'a byte of its second signature': [
      wire((bytes) => bytes.with(70, (bytes[70] ?? 0) ^ 1)),
      unsigned,
    ],
    'a transaction that its node says to be of version 5': [
      inTransaction(failed, 'JobFailed', (shown) => ({ ...shown, version: 5 })),
      'not_checkable history.sequence',
    ],
    'a message of version 2': [wire(inFront(0x82)), 'refused'],
    'a message of version 1 behind its signatures': [wire(inFront(0x81)), 'refused'],
    'a message of version 0 with a table': [
      all(
        wire((bytes) =>
          Buffer.concat([inFront(0x80)(bytes), Buffer.from([1]), bytes.subarray(1, 33), TABLE]),
        ),
        inTransaction(failed, 'JobFailed', (shown) => ({ ...shown, version: 0 })),
      ),
      'fails history.signatures, holds failure.returned',
    ],
    'a count in more bytes than it needs': [
      wire(([count = 0, ...rest]) => Uint8Array.of(count | 0x80, 0, ...rest)),
      'refused',
    ],
  });
}

const EMPTY = { data: ['', 'base64'], owner: SystemProgram.programId.toBase58() } as const;

function accounts({ jobs: { failed, refunded } }: Subjects): Condition[] {
  const held = (change: object) => withAccount(refunded, (account) => ({ ...account, ...change }));
  const bytes = (change: (data: Buffer) => Uint8Array) =>
    withAccount(refunded, (account, data) => ({
      ...account,
      data: [Buffer.from(change(data)).toString('base64'), 'base64'],
    }));
  const [unknown, fails] = ['not_checkable account.state', 'fails account.state'];
  return [
    ...rows(refunded, {
      'an account of another kind': [bytes((data) => data.with(0, 1)), fails],
      'an account of another version': [bytes((data) => data.with(8, 2)), fails],
      'an account with a byte less': [bytes((data) => data.subarray(0, -1)), fails],
      'an account with a byte more': [bytes((data) => Uint8Array.of(...data, 0)), fails],
      'an account of the system program, without data': [held(EMPTY), unknown],
      'an account of the system program, with data': [held({ owner: EMPTY.owner }), fails],
    }),
    ...rows(failed, {
      'an account from before the last change': [
        inAccount(failed, 'Job', set({ sequence: 1 })),
        unknown,
      ],
      'an account from after the last change': [
        inAccount(failed, 'Job', set({ sequence: 3 })),
        unknown,
      ],
    }),
  ];
}

function closings({ jobs: { closed, open } }: Subjects): Condition[] {
  /** The account of another job, where a job was closed. */
  const copied =
    (change: object = {}): Change =>
    (node) => {
      const held = { ...node.accounts[open.toBase58()], ...change } as SnapshotAccount;
      return withChanges(node, { accounts: { [closed.toBase58()]: held } });
    };
  return rows(closed, {
    'lamports where a job was closed': [
      copied(EMPTY),
      'not_applicable account.state, holds account.closed',
    ],
    'an account where a job was closed': [copied(), 'not_checkable account.closed'],
    'a later account where a job was closed': [
      all(copied(), inAccount(closed, 'Job', set({ sequence: 5 }))),
      'fails account.closed',
    ],
    'another program’s account where a job was closed': [
      copied({ owner: STRANGER.toBase58() }),
      'fails account.closed',
    ],
  });
}

function openJobs({ jobs: { open } }: Subjects): Condition[] {
  const overdue =
    (seconds: number): Change =>
    (node) => {
      const { unix_time, job_timeout_seconds } = anyEvent(node, 'JobLocked', open);
      return { ...node, unix_time: Number(unix_time) + Number(job_timeout_seconds) + seconds };
    };
  return rows(open, {
    'an open job that is 60 s overdue': [overdue(60), 'holds deadline.open'],
    'an open job that is 61 s overdue': [overdue(61), 'fails deadline.open'],
    'a list that is empty, of a job with an account': [
      inList(open, () => []),
      'not_checkable history.signatures deadline.open account.state',
    ],
  });
}

/** Lists, transactions, events and accounts. */
export const readingConditions = [lists, calls, bytes, accounts, closings, openJobs];
