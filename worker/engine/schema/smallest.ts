import {
  createSchemaReader,
  type Level,
  matches,
  type SchemaReader,
  SchemaRefusedError,
  schemasOfProperty,
  type Type,
} from './keywords.ts';
import { meets } from './meets.ts';

/** A text of each format that strings of a schema commonly have. */
const FORMATS: Readonly<Record<string, string>> = {
  'date-time': '1970-01-01T00:00:00Z',
  date: '1970-01-01',
  time: '00:00:00Z',
  duration: 'PT0S',
  email: 'a@b.co',
  hostname: 'a',
  ipv4: '0.0.0.0',
  ipv6: '::',
  uuid: '00000000-0000-4000-8000-000000000000',
  uri: 'http://a.co',
};

/** Levels of a schema that are followed: first few, so that a schema in itself ends soon. */
const LEVELS = [4, 8, 16, 32, 64];
/** Ways through the branches of one level that are tried. */
const WAYS_MAX = 64;
/** How many numbers and lengths are tried, from the least on, for patterns and for different items. */
const TRIES = 16;
const LETTERS = ['a', 'A', '0', '-'];

/**
 * The smallest value of a JSON Schema, or nearly: the shortest of those that a few rules lead to. Each
 * is checked by the whole schema, so a value is never returned that does not meet it.
 *
 * @throws SchemaRefusedError where these rules find none, as for an uncommon pattern
 */
export function smallestValue(schema: unknown): unknown {
  const reader = createSchemaReader(schema);
  for (const levels of LEVELS) {
    const [found] = smallest(reader, schema, levels);
    if (found) return found.value;
  }
  throw new SchemaRefusedError('no value was found');
}

interface Found {
  readonly value: unknown;
  /** Characters of its JSON. */
  readonly length: number;
}

/** @returns one value, or none within these levels */
function smallest(reader: SchemaReader, schema: unknown, levels: number): Found[] {
  if (levels <= 0) return [];
  const found = waysThrough(reader, schema, levels - 1)
    .flatMap((way) => valuesOf(reader, way, levels - 1))
    .filter((value) => meets(reader, schema, value))
    .map((value) => ({ value, length: JSON.stringify(value).length }))
    .sort((one, other) => one.length - other.length);
  return found.slice(0, 1);
}

/** The keywords of a level for each way through its branches and references. */
function waysThrough(reader: SchemaReader, schema: unknown, levels: number): Level[] {
  if (levels <= 0) return [];
  const level = reader.read(schema);
  const { $ref, allOf = [], anyOf, oneOf } = level;
  const through = (part: unknown): Level[] => waysThrough(reader, part, levels - 1);
  const branches = [anyOf, oneOf].filter((parts) => parts !== undefined);
  const conditions = [
    { allOf: [level.if ?? true, level.then ?? true] },
    { allOf: [{ not: level.if ?? true }, level.else ?? true] },
  ];
  const choices = [
    ...($ref === undefined ? [] : [through(reader.resolve($ref))]),
    ...allOf.map(through),
    ...branches.map((parts) => parts.flatMap(through)),
    ...(level.if === undefined ? [] : [conditions.flatMap(through)]),
  ];
  return choices.reduce<Level[]>(
    (ways, choice) =>
      ways.flatMap((way) => choice.map((part) => combine(way, part))).slice(0, WAYS_MAX),
    [level],
  );
}

/** Of two lower bounds the greater one counts, of two upper bounds the smaller one. */
const LOWER = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'] as const;
const UPPER = ['maximum', 'exclusiveMaximum'] as const;

/** What both levels demand, as far as values follow from it; the whole schema checks each value. */
function combine(one: Level, other: Level): Level {
  const combined: Level = { ...other, ...one };
  for (const bound of LOWER) combined[bound] = strictest(Math.max, one[bound], other[bound]);
  for (const bound of UPPER) combined[bound] = strictest(Math.min, one[bound], other[bound]);
  const { type = other.type, required = [] } = one;
  const own = one.properties ?? {};
  const shared = Object.entries(other.properties ?? {}).map(([name, schema]) => [
    name,
    Object.hasOwn(own, name) ? both(own[name], schema) : schema,
  ]);
  return {
    ...combined,
    type: type?.filter((each) => other.type?.some((its) => isWithin(each, its)) ?? true),
    required: [...new Set([...required, ...(other.required ?? [])])],
    properties: { ...own, ...Object.fromEntries(shared) },
    items: both(one.items, other.items),
    additionalProperties: both(one.additionalProperties, other.additionalProperties),
  };
}

function strictest(
  choose: (one: number, other: number) => number,
  one: number | undefined,
  other: number | undefined,
): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : choose(one, other);
}

const isWithin = (one: Type, other: Type): boolean =>
  one === other || (one === 'integer' && other === 'number');

const both = (one: unknown, other: unknown): unknown =>
  one === undefined || other === undefined ? (one ?? other) : { allOf: [one, other] };

/** Values to try for a level without its branches. */
function valuesOf(reader: SchemaReader, level: Level, levels: number): unknown[] {
  if (Object.hasOwn(level, 'const')) return [level.const];
  if (level.enum) return level.enum;
  return (level.type ?? impliedTypes(level)).flatMap((type): unknown[] => {
    if (type === 'null') return [null];
    if (type === 'boolean') return [true, false];
    if (type === 'string') return textsOf(reader, level);
    if (type === 'array') return listsOf(reader, level, levels);
    if (type === 'object') return recordsOf(reader, level, levels);
    return numbersOf(level);
  });
}

/** By the rules a schema with properties and no type also takes a number, which its author never means. */
function impliedTypes(level: Level): Type[] {
  const has = (...keywords: (keyof Level)[]): boolean =>
    keywords.some((keyword) => level[keyword] !== undefined);
  if (has('additionalProperties', 'minProperties') || nonEmpty(level)) return ['object'];
  if (has('items', 'prefixItems', 'minItems')) return ['array'];
  if (has('pattern', 'minLength', 'format')) return ['string'];
  if (has('minimum', 'exclusiveMinimum', 'multipleOf')) return ['number'];
  return ['object', 'array', 'string', 'number', 'null'];
}

const nonEmpty = ({ properties = {}, required = [] }: Level): boolean =>
  required.length > 0 || Object.keys(properties).length > 0;

function numbersOf(level: Level): number[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf: step = 1 } = level;
  const least = strictest(Math.max, minimum, exclusiveMinimum);
  const most = strictest(Math.min, maximum, exclusiveMaximum);
  const from = least ?? (most !== undefined && most < 0 ? most - TRIES * step : 0);
  const first = Math.ceil(from / step);
  const steps = Array.from({ length: 2 * TRIES }, (_, index) => (first + index) * step);
  const between = ((least ?? 0) + (most ?? 1)) / 2;
  return [0, ...steps, least ?? 0, most ?? 0, between]
    .map((number) => number || 0)
    .sort((one, other) => Math.abs(one) - Math.abs(other));
}

function textsOf(reader: SchemaReader, { minLength = 0, pattern, format = '' }: Level): string[] {
  reader.spend(minLength);
  const sample = Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
  const lengths = Array.from({ length: TRIES }, (_, index) => Math.ceil(minLength) + index);
  const plain = LETTERS.flatMap((letter) => lengths.map((length) => letter.repeat(length)));
  const first = sample !== undefined && sample.length >= minLength ? [sample] : plain;
  if (pattern === undefined) return first;
  return [...first, ...plain, ...Object.values(FORMATS)].filter((text) => matches(pattern, text));
}

function listsOf(reader: SchemaReader, level: Level, levels: number): unknown[][] {
  const { minItems = 0, prefixItems = [], items = true, uniqueItems } = level;
  const list: unknown[] = [];
  while (list.length < minItems) {
    const part = list.length < prefixItems.length ? prefixItems[list.length] : items;
    const schema = uniqueItems ? { allOf: [part, { not: { enum: [...list] } }] } : part;
    const [item] = smallest(reader, schema, levels);
    if (!item) return [];
    list.push(item.value);
  }
  return [list];
}

/** The required properties, in their order, and as many more as the schema demands. */
function recordsOf(reader: SchemaReader, level: Level, levels: number): object[] {
  const { properties = {}, required = [], minProperties = 0, propertyNames = true } = level;
  const known = Object.keys(properties);
  const wanted = [...new Set([...known, ...required])].filter((name) => required.includes(name));
  const more = [...known, ...LETTERS].filter(
    (name) => !wanted.includes(name) && meets(reader, propertyNames, name),
  );
  const count = Math.max(wanted.length, minProperties);
  const entries: [string, unknown][] = [];
  for (const name of [...wanted, ...more]) {
    if (entries.length >= count) break;
    const [found] = smallest(reader, { allOf: schemasOfProperty(level, name) }, levels);
    if (found) entries.push([name, found.value]);
    else if (required.includes(name)) return [];
  }
  return [Object.fromEntries(entries)];
}
