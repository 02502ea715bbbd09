import { PublicKey } from '@solana/web3.js';
import type { Random } from '../../../testing/random.ts';
import type { JobCase } from '../vectors/cases.ts';
import { JOB_CASES, nodeNamed } from '../vectors/committed.ts';
import {
  decodeEvent,
  encodeEvent,
  type Fields,
  type InstructionJson,
  number,
} from '../vectors/fields.ts';
import type { TransactionJson } from '../vectors/nodeChanges.ts';

const HONEST = JOB_CASES.filter(
  ({ changes, job, expected }) =>
    job && !changes && 'result' in expected && expected.result === 'holds',
);

/** A job that holds, of which the node says one field of one event otherwise. */
export function drawLie(random: Random, at: number): Omit<JobCase, 'expected'> {
  const { expected: _, ...one } = HONEST[random.below(HONEST.length)] as JobCase;
  const { transactions } = nodeNamed(one.node);
  const places = Object.entries(transactions).flatMap(([signature, shown]) => {
    const { meta } = (shown ?? { meta: { innerInstructions: [] } }) as unknown as TransactionJson;
    const calls = meta.innerInstructions.flatMap(({ instructions }) => instructions);
    return calls
      .filter((call) => isOf(one.job, call))
      .map((call) => ({ signature, at: calls.indexOf(call) }));
  });
  const { signature, at: place } = places[random.below(places.length)] as (typeof places)[number];
  const lying = structuredClone(transactions[signature]) as unknown as TransactionJson;
  const call = lying.meta.innerInstructions.flatMap(({ instructions }) => instructions)[place];
  const { name, data } = decodeEvent(call as InstructionJson) as { name: string; data: Fields };
  const fields = Object.keys(data).filter((one) => lie(random, data[one]) !== undefined);
  const field = fields[random.below(fields.length)] as string;
  (call as InstructionJson).data = encodeEvent(name, {
    ...data,
    [field]: lie(random, data[field]),
  });
  const changes = { transactions: { [signature]: lying as never } };
  return { ...one, changes, name: `${at + 1}: ${one.name}, ${name}.${field}` };
}

const isOf = (job: string | undefined, call: InstructionJson): boolean =>
  String((decodeEvent(call)?.data as Fields | undefined)?.job) === job;

function lie(random: Random, value: unknown): unknown {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value === 0 ? 1 : value - 1;
  if (typeof value === 'string') return `${value}x`;
  if (value instanceof PublicKey) return new PublicKey(random.bytes(32));
  if (Array.isArray(value)) return typeof value[0] === 'number' ? [7, ...value.slice(1)] : [];
  // Another word may be no possible one.
  if (!value || typeof value !== 'object' || !('subn' in value)) return undefined;
  return number(value).isZero() ? number(1) : number(value).subn(1);
}
