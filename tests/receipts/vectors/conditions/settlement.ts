import anchor from '@coral-xyz/anchor';
import { base58 } from '@scure/base';
import { decodeTransaction } from '../../../../programs/client/wire/index.ts';
import { transfers } from '../../../auditors/forgeries/forge.ts';
import type { InstructionJson, TransactionJson } from '../../../auditors/forgeries/node.ts';
import { all, type Change, inEvent, inMeta, inTransaction } from '../nodeChanges.ts';
import type { Condition, Subjects } from './condition.ts';

/** Calls, payments and what is recorded of them. */
export const settlementConditions = (subjects: Subjects): Condition[] => [
  ...calls(subjects),
  ...payments(subjects),
];

/** What stands between a proof's call and its event. */
function calls({ jobs: { alone } }: Subjects): Condition[] {
  const between = (change: (call: InstructionJson, bytes: Uint8Array) => object, at = 0): Change =>
    inTransaction(alone, 'JobProven', (shown) => {
      const wire = Buffer.from(shown.transaction[0], 'base64');
      const [outer] = decodeTransaction(wire).instructions;
      const [inner] = (shown.meta as TransactionJson['meta']).innerInstructions;
      if (!outer || !inner) throw new Error('there is no proof');
      const call = { ...outer, accounts: [...outer.accounts], data: base58.encode(outer.data) };
      // Behind hash, counts and commitment comes the signature.
      const forged = outer.data.with(-1, (outer.data.at(-1) ?? 0) ^ 1);
      const other = { ...call, data: base58.encode(forged) };
      inner.instructions.splice(at, 0, { ...other, ...change(other, forged) });
      return shown;
    });
  const rule = 'proof.signature';
  const list: [string, Change, 'holds' | 'fails'][] = [
    ['another call of the proof in between', between(() => ({})), 'fails'],
    ['another call of the proof behind it', between(() => ({}), 1), 'holds'],
    ['another program’s call in between', between(() => ({ programIdIndex: 0 })), 'holds'],
    ['a call about another job in between', between(() => ({ accounts: [0, 0, 0] })), 'holds'],
    ['a call with too few accounts in between', between(() => ({ accounts: [] })), 'holds'],
    [
      'a call with a byte more in between',
      between((_, bytes) => ({ data: base58.encode(Buffer.concat([bytes, Buffer.from([0])])) })),
      'holds',
    ],
    [
      'another instruction in between',
      between((_, bytes) => ({ data: base58.encode(bytes.with(0, 0)) })),
      'holds',
    ],
  ];
  return list.map(([name, change, verdict]) => ({
    name,
    job: alone,
    change,
    is: { [rule]: verdict },
  }));
}

function payments({ jobs: { repaid } }: Subjects): Condition[] {
  const completed = (change: Parameters<typeof inEvent>[2]) =>
    inEvent(repaid, 'JobCompleted', change);
  const moved = (change: (call: InstructionJson, bytes: Uint8Array) => void) =>
    inMeta(repaid, 'JobCompleted', (meta) => {
      const { toWorker } = transfers({ meta } as TransactionJson, 0);
      change(toWorker, base58.decode(toWorker.data));
    });
  const [worker, treasury] = ['settlement.worker_payment', 'settlement.treasury_payment'];
  const checked = (accounts: (own: readonly number[]) => number[]) =>
    moved((call, bytes) => {
      call.data = base58.encode(
        Buffer.concat([Buffer.from([12]), bytes.subarray(1), Buffer.from([6])]),
      );
      call.accounts = accounts(call.accounts);
    });
  const list: [string, Change, Record<string, 'holds' | 'fails' | 'not_checkable'>][] = [
    [
      'that the worker can claim what it was paid',
      completed((fields) => ({
        worker_paid: false,
        worker_claimable_base_units: fields.worker_base_units,
      })),
      { [worker]: 'fails' },
    ],
    [
      'that the treasury is owed what it was paid',
      completed((fields) => ({
        treasury_paid: false,
        treasury_unpaid_base_units: fields.treasury_base_units,
      })),
      { [treasury]: 'fails' },
    ],
    [
      'a transfer with its mint',
      checked(([from = 0, to = 0]) => [from, 0, to]),
      { [worker]: 'holds', 'settlement.tokens': 'holds' },
    ],
    [
      'a transfer with its mint where the payee stands in one without',
      checked(([from = 0, to = 0]) => [from, to, 0]),
      { [worker]: 'fails' },
    ],
    [
      'another instruction of the token program',
      moved((call, bytes) => {
        call.data = base58.encode(bytes.with(0, 4));
      }),
      { [worker]: 'fails' },
    ],
    [
      'a transfer behind the settlement',
      inMeta(repaid, 'JobCompleted', ({ innerInstructions: [inner] }) => {
        inner?.instructions.push(...inner.instructions.slice(0, 1));
      }),
      { [worker]: 'holds', 'settlement.tokens': 'fails' },
    ],
    [
      'a transfer that is not from the vault',
      inMeta(repaid, 'JobCompleted', ({ innerInstructions: [inner] }) => {
        const [first] = inner?.instructions ?? [];
        if (first) inner?.instructions.unshift({ ...first, accounts: [0, 0, 0] });
      }),
      { [worker]: 'holds', 'settlement.tokens': 'holds' },
    ],
  ];
  const covered = all(
    inEvent(repaid, 'JobLocked', () => ({
      ...{ credits_per_request: 3, credits_per_1k_tokens: 10 },
      long_completion_threshold_tokens: 599,
    })),
    completed((fields) => ({
      charged_credits: new anchor.BN(3),
      returned_credits: new anchor.BN(
        Number(fields.returned_credits) + Number(fields.charged_credits) - 3,
      ),
    })),
  );
  return [
    ...list.map(([name, change, is]) => ({ name, job: repaid, change, is })),
    {
      ...{ name: 'a charge for as many tokens as one request covers', job: repaid },
      ...{ change: covered, is: { 'settlement.charge': 'holds' } },
    },
  ];
}
