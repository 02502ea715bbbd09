import { describe, expect, it, jest } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { z } from 'zod';
import { createRandom, type Random } from '../../common/seededRandom.ts';
import { SchemaRefusedError } from '../../worker/engine/schema/keywords.ts';
import { smallestValue } from '../../worker/engine/schema/smallest.ts';

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);

/** The value, by whose validity another implementation of the standard judges it. */
function validValue(schema: object | boolean): unknown {
  const value = smallestValue(schema);
  expect({ value, isValid: ajv.validate(schema, value) }).toEqual({ value, isValid: true });
  return value;
}

const text = { type: 'string' };
const integer = { type: 'integer' };
const record = (properties: object, more: object = {}) => ({
  ...{ type: 'object', properties, required: Object.keys(properties) },
  ...{ additionalProperties: false, ...more },
});
const tree = {
  ...record({ value: { enum: ['long', 'x'] }, next: { $ref: '#/$defs/next' } }),
  $defs: { next: { anyOf: [{ $ref: '#' }, { type: 'null' }] }, 'a/b': { const: 7 } },
};

describe('the smallest value of a schema', () => {
  it.each<[string, object | boolean, unknown]>([
    ['any value', true, 0],
    ['any object', { type: 'object' }, {}],
    ['an object with a part that is not required', { properties: { a: text } }, {}],
    ['an object', record({ b: text, a: integer }), { b: '', a: 0 }],
    ['a part that no property describes', { required: ['a'] }, { a: 0 }],
    ['a constant', { const: { a: [null] } }, { a: [null] }],
    ['a list of constants', { enum: ['long', 'x', 'yy'] }, 'x'],
    ['a list of constants with a type', { type: 'integer', enum: ['x', 25, 3] }, 3],
    ['one of two types', { type: ['string', 'null'] }, ''],
    ['a number with a least one', { type: 'number', minimum: 2.5 }, 3],
    ['a number above one', { type: 'integer', exclusiveMinimum: 2 }, 3],
    ['a number below zero', { type: 'integer', maximum: -3 }, -3],
    ['a fraction', { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 }, 0.5],
    ['a multiple', { type: 'integer', minimum: 10, multipleOf: 7 }, 14],
    ['a text of a length', { ...text, minLength: 3 }, 'aaa'],
    ['a text of a pattern', { ...text, pattern: '^[A-Z]{3}$' }, 'AAA'],
    ['a list', { type: 'array', items: integer }, []],
    ['a list of a length', { type: 'array', items: integer, minItems: 2 }, [0, 0]],
    ['different items', { items: integer, minItems: 3, uniqueItems: true }, [0, 1, 2]],
    ['a tuple', { prefixItems: [{ const: 'a' }, text], minItems: 3, items: integer }, ['a', '', 0]],
    ['a part of all', { allOf: [{ minimum: 5 }, integer, { minimum: 8 }] }, 8],
    ['two objects', { allOf: [{ required: ['a'] }, { properties: { a: text } }] }, { a: '' }],
    ['the shortest of some', { anyOf: [record({ a: text }), { type: 'array' }, text] }, []],
    ['exactly one', { oneOf: [{ type: 'number' }, integer] }, 0.5],
    ['a negation', { type: 'boolean', not: { const: true } }, false],
    ['a condition', { ...integer, if: { minimum: 5 }, else: { const: 3 } }, 3],
    ['a reference', { $ref: '#/$defs/a~1b', $defs: tree.$defs }, 7],
    ['an escaped reference', { $ref: '#/$defs/%61~1b', $defs: tree.$defs }, 7],
    ['a schema that holds itself', tree, { value: 'x', next: null }],
    ['a map', { type: 'object', additionalProperties: integer, minProperties: 2 }, { a: 0, A: 0 }],
    ['names of a pattern', { patternProperties: { '^x': integer }, required: ['x1'] }, { x1: 0 }],
    ['a name of its own', record({ constructor: text }), { constructor: '' }],
    ['what depends on another', { required: ['a'], dependentRequired: { b: ['c'] } }, { a: 0 }],
  ])('is valid and short for %s', (_what, schema, value) => {
    expect(validValue(schema)).toEqual(value);
  });

  it.each('date-time date time duration email hostname ipv4 ipv6 uuid uri'.split(' '))(
    'has the format %s',
    (format) => {
      validValue(record({ a: { ...text, format } }));
    },
  );

  const answer = z.object({
    ...{ city: z.string().min(2), people: z.int().positive(), isCapital: z.boolean() },
    ...{ mail: z.email(), id: z.uuid(), on: z.iso.date(), at: z.iso.datetime(), ip: z.ipv4() },
    ...{ tags: z.array(z.enum(['port', 'hill'])).min(1), share: z.number().gt(0).lt(1) },
    ...{ place: z.tuple([z.number(), z.number()]), nickname: z.string().nullable() },
    ...{ counts: z.record(z.string(), z.int()), note: z.string().optional() },
    way: z.discriminatedUnion('by', [
      z.object({ by: z.literal('rail'), minutes: z.int() }),
      z.object({ by: z.literal('boat') }),
    ]),
  });
  it("is what zod's own schema parses", () => {
    expect(answer.safeParse(validValue(z.toJSONSchema(answer))).error).toBeUndefined();
  });

  /** A schema of a few levels, of everything that is understood. */
  function draw(random: Random, levels: number): object {
    const below = () => draw(random, levels - 1);
    const kinds: (() => object)[] = [
      () => ({ ...integer, minimum: random.below(20) - 10, maximum: 10 + random.below(20) }),
      () => ({ type: 'number', multipleOf: 1 + random.below(4), exclusiveMinimum: -3 }),
      () => ({ ...text, minLength: random.below(4) }),
      () => ({ enum: ['a', 7, null, [1]].slice(random.below(4)) }),
      () => ({ type: ['null', 'boolean'] }),
      () => record({ a: below(), b: below() }),
      () => ({ type: 'array', items: below(), minItems: random.below(3) }),
      () => ({ anyOf: [below(), below()] }),
      () => ({ allOf: [below(), {}] }),
      () => ({ oneOf: [record({ by: { const: 1 }, a: below() }), record({ by: { const: 2 } })] }),
    ];
    return kinds[random.below(levels > 0 ? kinds.length : 5)]?.() ?? {};
  }

  it('is found and valid for 300 drawn schemas', () => {
    const random = createRandom('schemas');
    for (let drawn = 0; drawn < 300; drawn += 1) validValue(draw(random, 4));
  });
});

describe('a schema without a value that can be found', () => {
  it.each<[string, object]>([
    ['no value at all', { not: {} }],
    ['a value without end', { ...record({ a: { $ref: '#' } }) }],
    ['a reference to itself', { $ref: '#' }],
    ['a reference that leads nowhere', { $ref: '#/$defs/a' }],
    ['another document', { $ref: 'https://example.com/schema' }],
    ['a reference that cannot be read', { $ref: '#/%' }],
    ['an uncommon pattern', { ...text, pattern: '^[A-Z]{2}-\\d{4}$' }],
    ['a pattern that is none', { ...text, pattern: '(' }],
    [
      'a pattern that takes years for a name',
      { patternProperties: { '^(a+)+$': text }, required: [`${'a'.repeat(40)}!`] },
    ],
    ['a keyword that is not known', { type: 'array', contains: integer }],
    ['a malformed keyword', { type: 'object', required: 'a' }],
    ['a long text', { ...text, minLength: 1e9 }],
    ['a long list', { type: 'array', minItems: 1e6 }],
    ['many branches', { anyOf: Array(64).fill({ anyOf: Array(64).fill({ $ref: '#' }) }) }],
  ])('is refused in a bounded time: %s', (_what, schema) => {
    expect(() => smallestValue(schema)).toThrow(SchemaRefusedError);
  });

  it('lets a pattern wait for a busy machine, which is not its own time', () => {
    const idle = { user: 0, system: 0 };
    // At its beginning and twice after its limit: it did not run.
    const used = jest.spyOn(process, 'cpuUsage').mockReturnValueOnce(idle);
    used.mockReturnValueOnce(idle).mockReturnValueOnce(idle);
    used.mockReturnValueOnce({ user: 60_000, system: 0 });
    const schema = { patternProperties: { '^(a+)+$': text }, required: [`${'a'.repeat(40)}!`] };

    expect(() => smallestValue(schema)).toThrow(SchemaRefusedError);
    expect(used).toHaveBeenCalledTimes(4);
    used.mockRestore();
  });
});
