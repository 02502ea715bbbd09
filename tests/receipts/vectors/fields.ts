import { createHash } from 'node:crypto';
import anchor from '@coral-xyz/anchor';
import { base58 } from '@scure/base';
import { coder } from '../../../testing/ledger/anchorCoder.ts';

const { BN } = anchor;

/** A call as a node's JSON has it. */
export interface InstructionJson {
  programIdIndex: number;
  accounts: number[];
  data: string;
}

/** Names and values as Anchor's coder has them. */
export type Fields = Record<string, unknown>;
export type Fieldwise = (fields: Record<string, never>) => Fields;

/** Of Anchor's calls that carry an event. */
const EVENT_TAG = Buffer.from('e445a52e51cb9a1d', 'hex');

export function decodeEvent({ data }: InstructionJson) {
  const bytes = Buffer.from(base58.decode(data)).subarray(EVENT_TAG.length);
  return coder.events.decode(bytes.toString('base64'));
}

export function encodeEvent(name: string, fields: Fields): string {
  const discriminator = createHash('sha256').update(`event:${name}`).digest().subarray(0, 8);
  return base58.encode(Buffer.concat([EVENT_TAG, discriminator, coder.types.encode(name, fields)]));
}

/** What an event says. */
export function fieldsOf(call: InstructionJson): Record<string, never> {
  const event = decodeEvent(call);
  if (!event) throw new Error('it is no event');
  return event.data as Record<string, never>;
}

/** Rewrites arguments of an instruction of the program. */
export function changeArguments(call: InstructionJson, change: Fieldwise): void {
  const decoded = coder.instruction.decode(Buffer.from(base58.decode(call.data)));
  if (!decoded) throw new Error('no instruction of the program');
  const args = decoded.data as Record<string, never>;
  call.data = base58.encode(coder.instruction.encode(decoded.name, { ...args, ...change(args) }));
}

/** Adds to fields of 64 bits. */
export const plus =
  (amount: number, ...names: string[]): Fieldwise =>
  (fields) =>
    Object.fromEntries(names.map((name) => [name, number(fields[name]).addn(amount)]));

export const set =
  (fields: Fields): Fieldwise =>
  () =>
    fields;

/** Another byte in a field of bytes. */
export const flip =
  (field: string): Fieldwise =>
  (fields) => {
    const [first = 0, ...others] = fields[field] as unknown as number[];
    return { [field]: [first ^ 1, ...others] };
  };

/** A field of 64 bits. */
export const number = (value: unknown) => new BN(value as never);

/** Another byte in a call's data. */
export function flipByte(call: InstructionJson, at: number): void {
  const bytes = base58.decode(call.data);
  call.data = base58.encode(bytes.with(at, (bytes[at] ?? 0) ^ 1));
}
