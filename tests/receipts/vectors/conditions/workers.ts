import { base58 } from '@scure/base';
import { Keypair, type PublicKey } from '@solana/web3.js';
import { encodeEvent, type Fields, number, set } from '../fields.ts';
import {
  all,
  anyEvent,
  type Change,
  eventsOf,
  inAccount,
  inEvent,
  inList,
  inTransaction,
  withAccount,
} from '../nodeChanges.ts';
import { type SnapshotTransaction, withChanges } from '../snapshot.ts';
import { type Condition, rows, type Subjects } from './condition.ts';

const STRANGER = Keypair.generate().publicKey;
const FAILED = { InstructionError: [0, { Custom: 6000 }] };
/** Names of transactions that the node does not have. */
const [ABSENT = '', OTHER = ''] = [9, 8].map((byte) => base58.encode(Buffer.alloc(64, byte)));
const KEY = { proof_key: STRANGER };

/** How the worker's keys are recorded around a proof, in the order of the ledger. */
export function workerConditions({ jobs: { alone }, node }: Subjects): Condition[] {
  const registered = anyEvent(node, 'WorkerRegistered');
  const { authority, worker } = registered as { authority: PublicKey; worker: PublicKey };
  const slot = Number((anyEvent(node, 'JobProven', alone) as { slot: unknown }).slot);
  const before = slot - 1;
  const gap = (at: number, err: unknown, isLast = false): Change =>
    inList(authority, (rows) => {
      const row = { signature: ABSENT, slot: at, err };
      return isLast ? [...rows, row] : [row, ...rows];
    });
  const missing = inList(authority, (rows) => [{ signature: OTHER, slot, err: null }, ...rows]);
  const update = (fields: object, place: Place, name = ABSENT) =>
    recorded({ ...UPDATE, ...registered, ...fields }, place, name);
  const index = (transactionIndex: number) =>
    inTransaction(alone, 'JobProven', (shown) => ({ ...shown, transactionIndex }));
  const now = inAccount(worker, 'Worker', set(KEY));
  const previous = { previous_proof_key: registered.proof_key };
  const registration = (place: Place) =>
    inTransaction(undefined, 'WorkerRegistered', (shown) => ({ ...shown, ...placed(place) }));
  const recastAsUpdate: Change = inTransaction(undefined, 'WorkerRegistered', (shown) => {
    for (const call of eventsOf(shown, 'WorkerRegistered')) {
      call.data = encodeEvent('WorkerUpdated', { ...UPDATE, ...registered });
    }
    return { ...shown, slot };
  });
  const another = inEvent(alone, 'JobProven', set(KEY));
  const reversed = inList(authority, ([one, two, ...rows]) => [
    { ...two, transactionIndex: 1 } as never,
    { ...one, transactionIndex: 2 } as never,
    ...rows,
  ]);
  const [holds, fails, unknown] = [
    ...(['holds proof.key', 'fails proof.key', 'not_checkable proof.key'] as const),
  ];
  const elsewhere = all(
    update({ payout: STRANGER }, { slot: before }),
    inAccount(worker, 'Worker', set({ payout: STRANGER })),
  );
  const payout = 'settlement.worker_payment';
  return rows(alone, {
    'another key, and a gap before the proof': [all(another, gap(slot, null)), unknown],
    'another key, and a failed transaction': [all(another, gap(slot, FAILED)), fails],
    'another key, and a gap after the settlement': [all(another, gap(2 ** 40, null)), fails],
    'another key, and a gap before the last record': [all(another, gap(0, null, true)), fails],
    'a worker without an account': [withAccount(worker, () => null), unknown],
    'a worker whose account is another program’s': [
      withAccount(worker, (held) => ({ ...held, owner: STRANGER.toBase58() })),
      unknown,
    ],
    'another key on record before the proof': [all(update(KEY, { slot: before }), now), fails],
    'another key on record in its slot': [all(update(KEY, { slot }), now), holds],
    'another key on record in its slot, before it': [
      all(update(KEY, { slot, transactionIndex: 0 }), now, index(1)),
      fails,
    ],
    'another key on record in its slot, behind it': [
      all(update(KEY, { slot, transactionIndex: 2 }), now, index(1)),
      holds,
    ],
    'another key on record in its slot, of a place in the list alone': [
      all(
        update(KEY, { slot }),
        now,
        index(1),
        inList(authority, ([newest, ...rows]) => [
          { ...newest, transactionIndex: 0 } as never,
          ...rows,
        ]),
      ),
      holds,
    ],
    'another key on record before the proof, behind that of the proof': [
      all(
        update({ ...KEY, ...previous }, { slot: before }),
        inAccount(worker, 'Worker', set({ ...KEY, ...previous })),
      ),
      fails,
    ],
    'another key on record in its slot, of no place in it': [
      all(update(KEY, { slot }), now, index(1)),
      holds,
    ],
    'another key on record by another authority': [
      all(update({ ...KEY, authority: STRANGER }, { slot: before }), now),
      unknown,
    ],
    'another key on record of another worker': [
      all(update({ ...KEY, worker: STRANGER }, { slot: before }), now),
      holds,
    ],
    'two records of one slot, listed in another order': [
      all(update(KEY, { slot: before }, OTHER), update({}, { slot: before }), now, reversed),
      holds,
    ],
    'a registration in the slot of the proof': [registration({ slot }), holds],
    'an update in the slot of the proof, and no record before': [recastAsUpdate, unknown],
    'a registration behind the proof': [
      all(registration({ slot, transactionIndex: 2 }), index(1)),
      unknown,
    ],
    'another payout on record': [elsewhere, `fails ${payout}`],
    'another payout on record, and a gap': [all(elsewhere, missing), `not_checkable ${payout}`],
  });
}

interface Place {
  readonly slot: number;
  readonly transactionIndex?: number;
}

/** Also without a place in the slot that it had. */
const placed = ({ slot, transactionIndex }: Place) => ({ slot, transactionIndex });

const UPDATE = { previous_proof_key: STRANGER, proof_key_changed_at: number(0) };

/** A further record, in a transaction like that of the registration. */
const recorded =
  (fields: Fields, place: Place, signature: string): Change =>
  (node) => {
    const { authority } = anyEvent(node, 'WorkerRegistered') as { authority: PublicKey };
    const registration = Object.values(node.transactions).find(
      (shown) => shown && eventsOf(shown, 'WorkerRegistered').length > 0,
    );
    const shown = structuredClone(registration) as SnapshotTransaction;
    for (const call of eventsOf(shown, 'WorkerRegistered')) {
      call.data = encodeEvent('WorkerUpdated', fields);
    }
    return all(
      (before) =>
        withChanges(before, {
          transactions: { [signature]: { ...shown, ...placed(place) } },
        }),
      inList(authority, (rows) => [{ signature, slot: place.slot, err: null }, ...rows]),
    )(node);
  };
