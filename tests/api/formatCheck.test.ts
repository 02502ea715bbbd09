import { afterAll, describe, expect, it } from '@jest/globals';
import { createFormatCheck } from '../../api/format/formatCheck.ts';
import { createLogger } from '../../common/logger.ts';

const formats = createFormatCheck({ logger: createLogger({ name: 'test', level: 'silent' }) });
afterAll(formats.close);

const integer = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] };
const OBJECT = { type: 'json_object' };
const holding = (schema: unknown) => ({ type: 'json_schema', json_schema: { name: 'a', schema } });
const judge = (response_format: unknown, text: string, finishReason = 'stop') =>
  formats.judge({ response_format }, { text, finishReason });

const old = { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'null' }] };
const slow = { type: 'string', pattern: '^(a+)+$' };
const slowText = JSON.stringify(`${'a'.repeat(40)}!`);
const deep = '['.repeat(100_000) + ']'.repeat(100_000);

describe('the format of an answer', () => {
  it.each<[string, unknown, string, boolean | null | undefined, string?]>([
    ['none was asked for', undefined, '{', undefined],
    ['an object', OBJECT, ' {"a": 1}\n', true],
    ['a list is no object', OBJECT, '[]', false],
    ['prose', OBJECT, 'Here it is: {"a": 1}', false],
    ['a fence around it', holding(integer), '```json\n{"a": 1}\n```', false],
    ['nothing', holding(integer), '', false],
    ['a value of the schema', holding(integer), '{"a": 1, "b": 2}', true],
    ['another type', holding(integer), '{"a": "1"}', false],
    ['a format, which only describes', holding({ type: 'string', format: 'date' }), '"x"', true],
    ['no schema', holding(undefined), '7', true],
    ['a schema that nothing meets', holding({ not: {} }), '{}', false],
    ['an older draft', holding(old), '[null]', true],
    ['an older draft, missed', holding(old), '[7]', false],
    ["a name of every object's own", holding({ required: ['toString'] }), '{}', false],
    ['a malformed schema', holding({ type: 'number', minimum: 'a' }), '1', null],
    ['a pattern that is none', holding({ pattern: '(' }), '"a"', null],
    ['a schema elsewhere', holding({ $ref: 'http://127.0.0.1:9/a.json' }), '{}', null],
    ['a schema that is too long', holding({ const: 'a'.repeat(65_536) }), '{}', null],
    ['a text that is too long', OBJECT, `{"a": "${'a'.repeat(262_144)}"}`, null],
    ['a check that takes too long', holding(slow), slowText, null],
    ['the check behind it', holding(slow), '"aa"', true],
    ['a value that is too deep', holding({ items: { $ref: '#' } }), deep, null],
    ['a cut answer', OBJECT, '{"a": 1}', null, 'length'],
  ])('%s', async (...[, format, text, kept, reason]) => {
    expect(await judge(format, text, reason)).toBe(kept);
  });

  it('is unknown behind too many that take long, and known after them', async () => {
    const others = Array.from({ length: 12 }, () => judge(holding(slow), slowText));
    expect(await judge(OBJECT, '{}')).toBeNull();
    expect(new Set(await Promise.all(others))).toEqual(new Set([null]));
    expect(await judge(OBJECT, '{}')).toBe(true);
  });
});
