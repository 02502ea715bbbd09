import { isDeepStrictEqual } from 'node:util';
import {
  type Level,
  matches,
  type SchemaReader,
  SchemaRefusedError,
  schemasOfProperty,
  type Type,
} from './keywords.ts';

/** References to references may go round in circles, which no value ends. */
const DEPTH_MAX = 200;

/**
 * Whether a value meets a schema, by the rules of JSON Schema 2020-12. A format only describes.
 *
 * @throws SchemaRefusedError where the schema does not decide it
 */
export function meets(reader: SchemaReader, schema: unknown, value: unknown, depth = 0): boolean {
  if (depth > DEPTH_MAX) throw new SchemaRefusedError('it is nested too deep');
  const level = reader.read(schema);
  const fits = (part: unknown, other: unknown = value): boolean =>
    meets(reader, part, other, depth + 1);
  const { type, enum: members, $ref, allOf = [], anyOf, oneOf, not } = level;
  const branch = level.if === undefined || fits(level.if) ? level.then : level.else;
  return (
    (type === undefined || type.some((one) => isOfType(value, one))) &&
    (members === undefined || members.some((member) => isDeepStrictEqual(member, value))) &&
    (!Object.hasOwn(level, 'const') || isDeepStrictEqual(level.const, value)) &&
    ($ref === undefined || fits(reader.resolve($ref))) &&
    allOf.every((part) => fits(part)) &&
    (anyOf === undefined || anyOf.some((part) => fits(part))) &&
    (oneOf === undefined || oneOf.filter((part) => fits(part)).length === 1) &&
    (not === undefined || !fits(not)) &&
    (level.if === undefined || branch === undefined || fits(branch)) &&
    (typeof value !== 'number' || isNumberWithin(level, value)) &&
    (typeof value !== 'string' || isTextWithin(level, value)) &&
    (!Array.isArray(value) || isListWithin(level, value, fits)) &&
    (!isRecord(value) || isRecordWithin(level, value, fits))
  );
}

type Fits = (schema: unknown, value: unknown) => boolean;

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isOfType(value: unknown, type: Type): boolean {
  if (type === 'null') return value === null;
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isRecord(value);
  return typeof value === type;
}

function isNumberWithin(level: Level, value: number): boolean {
  const { minimum = -Infinity, maximum = Infinity, multipleOf } = level;
  const { exclusiveMinimum: above = -Infinity, exclusiveMaximum: below = Infinity } = level;
  const isMultiple = multipleOf === undefined || Number.isInteger(value / multipleOf);
  return minimum <= value && value <= maximum && above < value && value < below && isMultiple;
}

function isTextWithin(level: Level, value: string): boolean {
  const { minLength = 0, maxLength = Infinity, pattern } = level;
  const length = [...value].length;
  return (
    minLength <= length && length <= maxLength && (pattern === undefined || matches(pattern, value))
  );
}

function isListWithin(level: Level, value: readonly unknown[], fits: Fits): boolean {
  const { minItems = 0, maxItems = Infinity, uniqueItems, items = true, prefixItems = [] } = level;
  const isRepeated = (item: unknown, index: number): boolean =>
    value.slice(0, index).some((other) => isDeepStrictEqual(other, item));
  return (
    minItems <= value.length &&
    value.length <= maxItems &&
    !(uniqueItems && value.some(isRepeated)) &&
    value.every((item, index) =>
      fits(index < prefixItems.length ? prefixItems[index] : items, item),
    )
  );
}

function isRecordWithin(level: Level, value: Record<string, unknown>, fits: Fits): boolean {
  const { minProperties = 0, maxProperties = Infinity, propertyNames = true } = level;
  const { required = [], dependentRequired = {} } = level;
  const names = Object.keys(value);
  const has = (name: string): boolean => Object.hasOwn(value, name);
  return (
    minProperties <= names.length &&
    names.length <= maxProperties &&
    required.every(has) &&
    Object.entries(dependentRequired).every(([name, others]) => !has(name) || others.every(has)) &&
    names.every((name) => fits(propertyNames, name)) &&
    names.every((name) => schemasOfProperty(level, name).every((part) => fits(part, value[name])))
  );
}
