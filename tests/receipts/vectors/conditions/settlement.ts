import { base58 } from '@scure/base';
import {
  changeArguments,
  type Fieldwise,
  flip,
  flipByte,
  type InstructionJson,
  number,
  plus,
  set,
} from '../fields.ts';
import { all, type Change, inEvent, inJson, inMeta, withAccount } from '../nodeChanges.ts';
import { outer, transfers } from './callLies.ts';
import { type Condition, rows, type Subjects } from './condition.ts';

/** What stands between a proof's call and its event. */
function calls({ jobs: { alone } }: Subjects): Condition[] {
  const between = (change: (call: InstructionJson) => object, at = 0): Change =>
    inJson(alone, 'JobProven', (shown) => {
      const [inner] = shown.meta.innerInstructions;
      const call = structuredClone(outer(shown, 0));
      changeArguments(call, flip('signature'));
      inner?.instructions.splice(at, 0, { ...call, ...change(call) });
    });
  const longer = ({ data }: InstructionJson) => ({
    data: base58.encode(Buffer.concat([base58.decode(data), Buffer.from([0])])),
  });
  const another = ({ ...call }: InstructionJson) => {
    flipByte(call, 0);
    return call;
  };
  const [holds, fails] = ['holds proof.signature', 'fails proof.signature'];
  return rows(alone, {
    'another call of the proof in between': [between(() => ({})), fails],
    'another call of the proof behind it': [between(() => ({}), 1), holds],
    'another program’s call in between': [between(() => ({ programIdIndex: 0 })), holds],
    'a call about another job in between': [between(() => ({ accounts: [0, 0, 0] })), holds],
    'a call with too few accounts in between': [between(() => ({ accounts: [] })), holds],
    'a call with a byte more in between': [between(longer), holds],
    'another instruction in between': [between(another), holds],
  });
}

const [WORKER, TREASURY] = ['settlement.worker_payment', 'settlement.treasury_payment'];
const TOKENS = 'settlement.tokens';

function payments({ jobs: { repaid } }: Subjects): Condition[] {
  const completed = (change: Fieldwise) => inEvent(repaid, 'JobCompleted', change);
  const inCalls = (change: (calls: InstructionJson[]) => void) =>
    inMeta(repaid, 'JobCompleted', ({ innerInstructions: [inner] }) => {
      if (inner) change(inner.instructions);
    });
  const moved = (change: (call: InstructionJson, bytes: Uint8Array) => object) =>
    inMeta(repaid, 'JobCompleted', (meta) => {
      const { toWorker } = transfers(meta, 0);
      Object.assign(toWorker, change(toWorker, base58.decode(toWorker.data)));
    });
  /** A transfer that names its mint and its decimals. */
  const checked = (accounts: (own: readonly number[]) => number[]) =>
    moved((call, bytes) => ({
      data: base58.encode(Uint8Array.of(12, ...bytes.subarray(1), 6)),
      accounts: accounts(call.accounts),
    }));
  const covered = all(
    inEvent(
      repaid,
      'JobLocked',
      set({
        ...{ credits_per_request: 3, credits_per_1k_tokens: 10 },
        long_completion_threshold_tokens: 599,
      }),
    ),
    completed(({ returned_credits, charged_credits }) => ({
      charged_credits: number(3),
      returned_credits: number(returned_credits).add(number(charged_credits)).subn(3),
    })),
  );
  return rows(repaid, {
    'that the worker can claim what it was paid': [
      completed(({ worker_base_units }) => ({
        worker_paid: false,
        worker_claimable_base_units: worker_base_units,
      })),
      `fails ${WORKER}`,
    ],
    'that the treasury is owed what it was paid': [
      completed(({ treasury_base_units }) => ({
        treasury_paid: false,
        treasury_unpaid_base_units: treasury_base_units,
      })),
      `fails ${TREASURY}`,
    ],
    'a transfer with its mint': [
      checked(([from = 0, to = 0]) => [from, 0, to]),
      `holds ${WORKER} ${TOKENS}`,
    ],
    'a transfer with its mint where the payee stands in one without': [
      checked(([from = 0, to = 0]) => [from, to, 0]),
      `fails ${WORKER}`,
    ],
    'another instruction of the token program': [
      moved((_, bytes) => ({ data: base58.encode(bytes.with(0, 4)) })),
      `fails ${WORKER}`,
    ],
    'a transfer behind the settlement': [
      inCalls((calls) => calls.push(...calls.slice(0, 1))),
      `holds ${WORKER}, fails ${TOKENS}`,
    ],
    'a transfer that is not from the vault': [
      inCalls((calls) => {
        const [first] = calls;
        if (first) calls.unshift({ ...first, accounts: [0, 0, 0] });
      }),
      `holds ${WORKER} ${TOKENS}`,
    ],
    'a charge for as many tokens as one request covers': [covered, 'holds settlement.charge'],
  });
}

/** A contradiction goes before evidence that is missing. */
const unknownPayout = ({ jobs: { settled }, service }: Subjects): Condition[] =>
  rows(settled, {
    'a payment of another amount, where the payout is not known': [
      all(
        withAccount(service.worker, () => null),
        inEvent(settled, 'JobSettled', plus(1, 'worker_base_units')),
      ),
      'fails settlement.worker_payment',
    ],
  });

/** Calls, payments and what is recorded of them. */
export const settlementConditions = [calls, payments, unknownPayout];
