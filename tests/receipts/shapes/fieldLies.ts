import { PublicKey } from '@solana/web3.js';
import type { JobCase, VectorCase } from '../vectors/cases.ts';
import { JOB_CASES, nodeNamed } from '../vectors/committed.ts';
import {
  decodeEvent,
  encodeEvent,
  type Fields,
  type InstructionJson,
  number,
} from '../vectors/fields.ts';
import type { TransactionJson } from '../vectors/nodeChanges.ts';

/** A job that holds, of which the node says one field of one event otherwise. */
export type FieldLie = Omit<JobCase, 'expected'> & {
  /** Such as `JobLocked.unix_time`. */
  readonly field: string;
};

/** The ledger on which jobs are the first of their wallets. */
const FIRST = 'answers';

/**
 * A job that holds of each way that jobs went, without what its client gave. Those of version 1
 * differ in their signed bytes alone.
 */
const HONEST = new Map(
  JOB_CASES.flatMap(({ kind, name, node, changes, job, expected }) =>
    job && !changes && node !== 'version 1' && 'result' in expected && expected.result === 'holds'
      ? [[`${node === FIRST} ${wayOf(node, job)}`, { kind, name, node, job }] as const]
      : [],
  ),
);

/** The names of a job's events. */
function wayOf(node: string, job: string): string {
  const calls = Object.values(nodeNamed(node).transactions).flatMap((shown) =>
    shown ? callsIn(shown as unknown as TransactionJson) : [],
  );
  const events = calls.map(decodeEvent).filter((event) => String(event?.data.job) === job);
  return events.map((event) => `${event?.name} ${JSON.stringify(event?.data.verdict)}`).join(', ');
}

/** Every lie about one field of one event of these jobs, of a few for each field. */
export function fieldLies(): FieldLie[] {
  return [...HONEST.values()].flatMap((one) =>
    Object.entries(nodeNamed(one.node).transactions).flatMap(([signature, shown]) =>
      shown ? liesIn(one, signature, shown as unknown as TransactionJson) : [],
    ),
  );
}

/** Fields of one event that only a node says: of any job, and of one whose account is closed. */
type Said = Readonly<Record<string, readonly [always: string, closed: string]>>;

/** Of which fields a lie held: in each job, or in those that have no account to be compared with. */
export function heldIn(cases: readonly VectorCase[]): Said {
  const [always, closed] = [new Set<string>(), new Set<string>()];
  for (const one of cases) {
    if (!('field' in one) || !('result' in one.expected)) continue;
    const { result, failing, not_checkable } = one.expected;
    const { field, node, job } = one as unknown as FieldLie;
    const isOpen = nodeNamed(node).accounts[String(job)];
    if (result === 'holds') (isOpen ? always : closed).add(field);
    if (String([...failing, ...not_checkable]) === 'account.state') closed.add(field);
  }
  const of = (held: ReadonlySet<string>, event: string, others?: ReadonlySet<string>) =>
    [...held]
      .filter((field) => field.startsWith(`${event}.`) && !others?.has(field))
      .map((field) => field.slice(event.length + 1))
      .toSorted()
      .join(', ');
  const events = [...always, ...closed].map((field) => field.slice(0, field.indexOf('.')));
  return Object.fromEntries(
    events.map((event) => [event, [of(always, event), of(closed, event, always)]]),
  );
}

function liesIn(
  one: Omit<FieldLie, 'field'>,
  signature: string,
  shown: TransactionJson,
): FieldLie[] {
  return callsIn(shown).flatMap((call, at) => {
    const { name, data } = decodeEvent(call) ?? { name: '', data: {} as Fields };
    if (String(data.job) !== one.job) return [];
    return Object.entries(data as Fields).flatMap(([field, value]) =>
      otherValues(value, data as Fields).flatMap((other) => {
        const lying = structuredClone(shown);
        const lie = tryEncode(name, { ...data, [field]: other });
        if (lie === undefined || lie === call.data) return [];
        (callsIn(lying)[at] as InstructionJson).data = lie;
        const changes = { transactions: { [signature]: lying as never } };
        const said = `${name}.${field}`;
        return [{ ...one, changes, field: said, name: `${one.name}, ${said} ${String(other)}` }];
      }),
    );
  });
}

function callsIn({ meta }: TransactionJson): InstructionJson[] {
  return meta.innerInstructions.flatMap(({ instructions }) => instructions);
}

/** Undefined for a value that the field has no bytes for, or no word. */
function tryEncode(name: string, fields: Fields): string | undefined {
  try {
    const data = encodeEvent(name, fields);
    return decodeEvent({ programIdIndex: 0, accounts: [], data }) ? data : undefined;
  } catch {
    return undefined;
  }
}

const STRANGER = new PublicKey(Buffer.alloc(32, 9));
const WORDS = [...['Lite', 'Pro'], ...['Rejected', 'UpheldWorker'], ...['LeaseLost', 'Orphaned']];

/** One less, one more, and more by what came back; another key, word or byte. */
function otherValues(value: unknown, { returned_credits }: Fields): unknown[] {
  if (typeof value === 'boolean') return [!value];
  if (typeof value === 'string') return [`${value}x`];
  if (value instanceof PublicKey) return [STRANGER];
  if (Array.isArray(value)) return [value.with(0, Number(value[0]) ^ 1)];
  if (typeof value === 'number') return [value - 1, value + 1].filter((one) => one >= 0);
  if (!('subn' in (value as object))) return WORDS.map((word) => ({ [word]: {} }));
  const changes = [number(-1), number(1), ...(returned_credits ? [number(returned_credits)] : [])];
  return changes.map((change) => number(value).add(change)).filter((one) => !one.isNeg());
}
