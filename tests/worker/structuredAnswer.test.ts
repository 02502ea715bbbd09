import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { z } from 'zod';
import { createBuiltinEngine } from '../../worker/engine/builtin.ts';

const ajv = new Ajv2020({ strict: false, validateSchema: false });
addFormats.default(ajv);
const patient = createBuiltinEngine({ tokenDelayMs: 0 });
const impatient = createBuiltinEngine({ tokenDelayMs: 0, schemaMsMax: 200 });

/** What the built-in engine answers. @param more further fields of the request */
async function answerTo(schema: unknown, more: object = {}, engine = patient): Promise<string> {
  const chat = {
    model: 'test-8b',
    messages: [{ role: 'user' as const, content: 'Describe the harbour.' }],
    response_format: { type: 'json_schema', json_schema: { name: 'a', schema } },
    ...more,
  };
  const limits = { tokenLimit: 10_000, signal: new AbortController().signal };
  let text = '';
  for await (const event of engine.generate(chat, limits)) {
    if (event.type === 'text') text += event.text;
  }
  return text;
}

/** The answer's value, which another instance of the validator judges, formats too. */
async function validValue(schema: object | boolean): Promise<unknown> {
  const value = JSON.parse(await answerTo(schema));
  const errors = ajv.validate(schema, value) ? null : ajv.errors;
  expect({ schema, value, errors }).toMatchObject({ errors: null });
  return value;
}

const text = { type: 'string' };
const integer = { type: 'integer' };
const record = (properties: object, more: object = {}) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});
const tree = {
  ...record({ value: { enum: ['long', 'x'] }, next: { $ref: '#/$defs/next' } }),
  $defs: { next: { anyOf: [{ $ref: '#' }, { type: 'null' }] }, 'a/b': { const: 7 } },
};

describe('an answer to a schema', () => {
  it('meets every common keyword', async () => {
    const value = await validValue(
      record({
        any: true,
        optional: { properties: { a: text } },
        undescribed: { required: ['a'] },
        constants: { type: 'integer', enum: ['x', 25, 3] },
        types: { type: ['string', 'null'] },
        fraction: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
        multiple: { type: 'integer', minimum: 10, multipleOf: 7 },
        pattern: { ...text, pattern: '^[A-Z]{2}-\\d{4}$' },
        unique: { type: 'array', items: integer, minItems: 3, uniqueItems: true },
        tuple: { prefixItems: [{ const: 'a' }, text], minItems: 3, items: integer },
        contains: { type: 'array', contains: integer },
        all: { allOf: [{ minimum: 5 }, integer, { minimum: 8 }] },
        one: { oneOf: [{ type: 'number' }, integer] },
        not: { type: 'boolean', not: { const: true } },
        condition: { ...integer, if: { minimum: 5 }, else: { const: 3 } },
        map: { type: 'object', additionalProperties: integer, minProperties: 2 },
        constructor: text,
        dependent: { required: ['a'], dependentRequired: { b: ['c'] } },
      }),
    );
    expect(value).toMatchObject({ optional: {}, not: false });
  });

  it.each([
    ['a schema that holds itself', tree],
    ['an escaped name', { $ref: '#/$defs/a~1b', $defs: tree.$defs }],
    [
      'an older draft',
      { $schema: 'http://json-schema.org/draft-07/schema#', ...tree, definitions: tree.$defs },
    ],
  ])('follows references within the schema: %s', async (_what, schema) => {
    await validValue(schema);
  });

  it('has every common format', async () => {
    const formats = 'date-time date time duration email hostname ipv4 ipv6 uuid uri'.split(' ');
    await validValue(
      record(Object.fromEntries(formats.map((format) => [format, { ...text, format }]))),
    );
  });

  const answer = z.object({
    city: z.string().min(2),
    people: z.int().positive(),
    mail: z.email(),
    on: z.iso.date(),
    tags: z.array(z.enum(['port', 'hill'])).min(1),
    place: z.tuple([z.number(), z.number()]),
    nickname: z.string().nullable(),
    counts: z.record(z.string(), z.int()),
    note: z.string().optional(),
    way: z.discriminatedUnion('by', [
      z.object({ by: z.literal('rail'), minutes: z.int() }),
      z.object({ by: z.literal('boat') }),
    ]),
  });
  it("is what zod's own schema parses", async () => {
    const value = JSON.parse(await answerTo(z.toJSONSchema(answer)));
    expect(answer.safeParse(value).error).toBeUndefined();
  });

  it('is the same for the same request, and another for another seed', async () => {
    const schema = record({ a: { ...text, minLength: 20 } });
    const [first, again, seeded] = await Promise.all([
      answerTo(schema),
      answerTo(schema),
      answerTo(schema, { seed: 2 }),
    ]);
    expect(again).toBe(first);
    expect(seeded).not.toBe(first);
  });

  it('is an object where no schema is given', async () => {
    expect(await answerTo(undefined, { response_format: { type: 'json_object' } })).toBe('{}');
  });
});

const polluting = JSON.parse('{"required": ["__proto__"], "properties": {"__proto__": {}}}');
const manyLists = Array(8)
  .fill(0)
  .reduce((items) => ({ type: 'array', minItems: 100, items }), { type: 'null' });

describe('a schema without a value that can be found', () => {
  it.each<[string, unknown]>([
    ['no value at all', { not: {} }],
    ['a value without end', { ...record({ a: { $ref: '#' } }) }],
    ['a reference to itself', { $ref: '#' }],
    ['a reference that leads nowhere', { $ref: '#/$defs/a' }],
    ['a reference that cannot be read', { $ref: '#/%' }],
    ['a pattern that is none', { ...text, pattern: '(' }],
    ['a malformed keyword', { type: 'object', required: 'a' }],
    ['a type that is none', { type: 'text' }],
    ['a schema that is none', 7],
    ["a name of every object's own", polluting],
  ])('is refused: %s', async (_what, schema) => {
    await expect(answerTo(schema)).rejects.toMatchObject({ code: 'parameter_refused' });
  });

  it('is refused within bounds, which the worker does not feel', async () => {
    const hostile = [
      { patternProperties: { '^(a+)+$': text }, required: [`${'a'.repeat(40)}!`] },
      { ...text, pattern: '((((a{1000}){1000}){1000}){1000})' },
      { ...text, minLength: 1e9 },
      { type: 'array', minItems: 1e9, items: { type: 'null' } },
      manyLists,
      { anyOf: Array(64).fill({ anyOf: Array(64).fill({ $ref: '#' }) }) },
      { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
    ];
    const refusals = Promise.allSettled(hostile.map((schema) => answerTo(schema, {}, impatient)));
    const another = await answerTo(record({ a: integer }));
    expect(JSON.parse(another)).toEqual({ a: expect.any(Number) });
    for (const refusal of await refusals) {
      expect(refusal).toMatchObject({ reason: { code: 'parameter_refused' } });
    }
  });

  it('never reads another document', async () => {
    const asked: unknown[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url);
      response.end('{"type": "integer"}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const remote = record({ a: { $ref: `http://127.0.0.1:${port}/schema.json` } });
    await expect(answerTo(remote)).rejects.toMatchObject({ code: 'parameter_refused' });
    expect(asked).toEqual([]);
    server.close();
  });

  it('is given up with the request', async () => {
    const response_format = { type: 'json_schema', json_schema: { schema: manyLists } };
    const chat = { model: 'test-8b', messages: [], response_format };
    const left = new AbortController();
    const limits = { tokenLimit: 10, signal: left.signal };
    const answer = patient.generate(chat, limits)[Symbol.asyncIterator]().next();
    const reason = new Error('the client has left');
    left.abort(reason);
    await expect(answer).rejects.toBe(reason);
  });
});
