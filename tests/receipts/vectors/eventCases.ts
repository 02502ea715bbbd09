import anchor from '@coral-xyz/anchor';
import { IDL, PROGRAM_EVENTS } from '../../../programs/client/codec.ts';
import type { Field, FieldType } from '../../../programs/client/interface.ts';
import { bytesToHex, concatBytes, hexToBytes } from '../../../programs/client/platform/bytes.ts';
import { coder } from '../../../testing/ledger/anchorCoder.ts';
import type { Random } from '../../../testing/random.ts';
import type { AnyUnitCase } from './cases.ts';
import { drawKeypair, drawWords } from './draw.ts';

/** Of Anchor's calls that carry an event. */
const TAG = hexToBytes('e445a52e51cb9a1d');

/** Each event with drawn fields, encoded by Anchor's coder. */
export function eventCases(random: Random): AnyUnitCase[] {
  const drawn = PROGRAM_EVENTS.map((kind) => drawEvent(random, kind));
  return drawn.map(readable);
}

interface DrawnEvent {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly fields: Record<string, unknown>;
}

function drawEvent(random: Random, kind: (typeof PROGRAM_EVENTS)[number]): DrawnEvent {
  const drawn = fieldsOf(kind.name).map(
    ({ name, type }) => [name, drawField(random, type)] as const,
  );
  const part = (at: 0 | 1) => Object.fromEntries(drawn.map(([name, pair]) => [name, pair[at]]));
  const body = coder.types.encode(kind.name, part(0));
  return {
    name: kind.name,
    bytes: concatBytes(TAG, kind.discriminator, body),
    fields: part(1),
  };
}

function fieldsOf(name: string): readonly Field[] {
  const found = IDL.types.find((type) => type.name === name)?.type;
  if (found?.kind !== 'struct') throw new Error(`there is no event ${name}`);
  return found.fields;
}

const BITS: Readonly<Record<string, number>> = { u8: 8, u16: 16, u32: 32 };

/** @returns the value as Anchor's coder takes it, and as the file has it */
function drawField(random: Random, type: FieldType): readonly [unknown, unknown] {
  if (type === 'u64' || type === 'i64') return draw64(random, type);
  if (type === 'bool') return both(random.below(2) === 1);
  if (type === 'string') return both(drawWords(random));
  if (type === 'pubkey') {
    const { publicKey } = drawKeypair(random);
    return [publicKey, publicKey.toBase58()];
  }
  if (typeof type === 'string') return both(random.below(2 ** (BITS[type] ?? 0)));
  if ('array' in type) {
    const bytes = random.bytes(type.array[1]);
    return [[...bytes], bytesToHex(bytes)];
  }
  if ('vec' in type) {
    const keys = Array.from({ length: random.below(4) }, () => drawField(random, type.vec));
    return [keys.map(([coded]) => coded), keys.map(([, shown]) => shown)];
  }
  return drawWord(random, type.defined.name);
}

const both = (value: unknown) => [value, value] as const;

function draw64(random: Random, type: 'u64' | 'i64'): readonly [unknown, unknown] {
  const bytes = random.bytes(8);
  const number = Buffer.from(bytes).readBigUInt64LE();
  const value = type === 'i64' ? BigInt.asIntN(64, number) : number;
  return [new anchor.BN(value.toString()), value.toString()];
}

function drawWord(random: Random, name: string): readonly [unknown, unknown] {
  const found = IDL.types.find((type) => type.name === name)?.type;
  const variants = found?.kind === 'enum' ? found.variants : [];
  const variant = variants[random.below(variants.length)]?.name ?? '';
  const word = variant.replace(/(?<=.)[A-Z]/g, '_$&').toLowerCase();
  return [{ [variant]: {} }, word];
}

const readable = ({ name, bytes, fields }: DrawnEvent): AnyUnitCase => ({
  ...{ kind: 'event', name, input: { data: bytesToHex(bytes) } },
  expected: { name, fields },
});
