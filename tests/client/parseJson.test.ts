import { describe, expect, it } from '@jest/globals';
import { parseJson } from '../../programs/client/proof.ts';
import { createRandom } from '../../testing/random.ts';

const random = createRandom();
const ROUNDS = 500;
/** Each as JSON may write it. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  a: ['a', '\\u0061'],
  'a\\': ['a\\\\', 'a\\u005c'],
  '\\': ['\\\\', '\\u005C'],
  '\\n': ['\\\\n'],
  '\n': ['\\n', '\\u000a'],
  '"': ['\\"'],
  'a"': ['a\\"'],
  ü: ['ü', '\\u00fc'],
  '😀': ['😀', '\\ud83d\\ude00'],
  '': [''],
  '1': ['1', '\\u0031'],
  k0: ['k0', '\\u006b0'],
  __proto__: ['__proto__', '\\u005f_proto__'],
  '{": [': ['{\\": ['],
};

describe(`JSON (seed ${random.seed})`, () => {
  it('has the keys that it names, behind a text with others in their place', () => {
    parseJson('{"a":1,"\\\\":2}');
    parseJson('{"a":1,"\\\\n":2}');
    const texts = ['{"a":1,"\\n":2}', '{"a":1,"\\u00fc":2}', '{"a":1,"\\na":2}', '{"a":1,"ü":2}'];
    const keys = texts.map((text) => Object.keys(parseJson(text) as object)[1]);
    expect(keys).toEqual(['\n', 'ü', '\na', 'ü']);
  });

  it('is read as it was written, with any escapes, order and repeated keys', () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { text, value } = drawJson(3);
      expect([text, parseJson(text)]).toEqual([text, value]);
    }
  });

  it.each([
    ...[
      '',
      '{',
      '{"\\n"',
      '{"\\n":',
      '{"\\n":1',
      '{"\\n":1,}',
      '{"\\n" 1}',
      '{"\\x":1}',
      '{"\\u00":1}',
    ],
    ...[
      '{"\\n":1}{}',
      '{"\\n\n":1}',
      '{\\"a":1}',
      '"\\n":1',
      '{"\\n":k0}',
      '{"\\n":1,k0:2}',
      '"\\"',
    ],
  ])('is refused where it is none: %j', (text) => {
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });
});

const oneOf = <Item>(items: readonly Item[]): Item => items[random.below(items.length)] as Item;
const space = (): string => oneOf(['', '', ' ', '\t', '\r\n']);

/** A value, and a text of it. */
function drawJson(depth: number): { text: string; value: unknown } {
  const count = random.below(4);
  switch (random.below(depth > 0 ? 5 : 3)) {
    case 0:
      return { text: '1', value: 1 };
    case 1:
      return { text: 'null', value: null };
    case 2: {
      const value = oneOf(Object.keys(TEXTS));
      return { text: `"${oneOf(TEXTS[value] ?? [])}"`, value };
    }
    case 3: {
      const items = Array.from({ length: count }, () => drawJson(depth - 1));
      const text = `[${items.map((item) => item.text + space()).join(',')}]`;
      return { text, value: items.map(({ value }) => value) };
    }
    default: {
      const keys = Array.from({ length: count }, () => oneOf(Object.keys(TEXTS)));
      const fields = keys.map((key) => ({ key, ...drawJson(depth - 1) }));
      const written = fields.map(
        ({ key, text }) => `${space()}"${oneOf(TEXTS[key] ?? [])}"${space()}:${space()}${text}`,
      );
      const value = Object.fromEntries(fields.map((field) => [field.key, field.value]));
      return { text: `{${written.join(',')}}`, value };
    }
  }
}
