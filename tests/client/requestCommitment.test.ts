import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { parseJson } from '../../programs/client/parseJson.ts';
import { canonicalJson, type Json, requestCommitment } from '../../programs/client/proof.ts';
import { createRandom } from '../../testing/random.ts';

const random = createRandom();
const ROUNDS = 300;

describe(`canonical JSON (seed ${random.seed})`, () => {
  it('leaves out undefined fields, and no others', () => {
    const value: Json = { seed: undefined, stop: null, top_p: 0, user: '', list: [], map: {} };
    expect(canonicalJson(value)).toBe('{"list":[],"map":{},"stop":null,"top_p":0,"user":""}');
    expect(canonicalJson({ stop: undefined })).toBe('{}');
  });

  it('is what an independent writer gives, of any value', () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const value = randomJson(4);
      const text = canonicalJson(value);
      expect(text).toBe(written(value));
      expect(parseJson(text)).toEqual(value);
      expect(canonicalJson(parseJson(text) as Json)).toBe(text);
    }
  });

  it('is the same in any order of fields', () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const value = randomJson(4);
      expect(canonicalJson(shuffled(value))).toBe(canonicalJson(value));
    }
  });
});

describe('JSON', () => {
  it('has the keys that it names, behind a text with others in their place', () => {
    parseJson('{"a":1,"\\\\":2}');
    parseJson('{"a":1,"\\\\n":2}');
    const texts = ['{"a":1,"\\n":2}', '{"a":1,"\\u00fc":2}', '{"a":1,"\\na":2}', '{"a":1,"ü":2}'];
    const keys = texts.map((text) => Object.keys(parseJson(text) as object)[1]);
    expect(keys).toEqual(['\n', 'ü', '\na', 'ü']);
  });

  it('has keys that look like the reader’s own stand-ins', () => {
    const text = '{"#0":1,"\\n":{"#1":[{"\\u0023":2,"#":3}]},"__proto__":4}';
    const read = parseJson(text) as object;
    expect(read).toEqual(JSON.parse(text));
    expect(Object.keys(read)).toEqual(['#0', '\n', '__proto__']);
  });

  it('is read as it was written, with any escapes, order and repeated keys', () => {
    for (let round = 0; round < 500; round += 1) {
      const value = randomJson(3);
      const text = spelled(value);
      expect([text, parseJson(text)]).toEqual([text, value]);
    }
  });

  const lines = String.raw`
    {
    {"\n"
    {"\n":
    {"\n":1
    {"\n":1,}
    {"\n" 1}
    {"\x":1}
    {"\u00":1}
    {"\n":1}{}
    {\"a":1}
    "\n":1
    {"\n":k0}
    {"\n":1,k0:2}
    "\"`;
  const others = lines.split('\n').map((line) => line.trim());
  it.each([...others, '{"\\n\n":1}'])('is refused where it is none: %j', (text) => {
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });
});

describe('a request’s commitment', () => {
  const salt = Uint8Array.from({ length: 32 }, (_, index) => index);
  const request = {
    model: 'qwen3-8b',
    messages: [
      { role: 'system', content: 'Answer in one word.' },
      { role: 'user', content: 'Which city has the Eiffel tower? €' },
    ],
    stop: ['\n'],
    temperature: 0.7,
    seed: 7,
    logit_bias: { '15': -100 },
    token_limit: 500,
  };
  const inHex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

  it('is the sha256 of the salt and of the sha256 of the canonical request', () => {
    const canonical =
      '{"logit_bias":{"15":-100},"messages":[{"content":"Answer in one word.","role":"system"},' +
      '{"content":"Which city has the Eiffel tower? €","role":"user"}],"model":"qwen3-8b",' +
      String.raw`"seed":7,"stop":["\n"],"temperature":0.7,"token_limit":500}`;
    expect(canonicalJson(request)).toBe(canonical);
    const inner = createHash('sha256').update(canonical, 'utf8').digest();
    const due = createHash('sha256').update(salt).update(inner).digest('hex');
    expect(inHex(requestCommitment(salt, request))).toBe(due);
  });

  it('is refused for a salt of another length, and without a canonical form', () => {
    for (const length of [0, 31, 33]) {
      expect(() => requestCommitment(new Uint8Array(length), request)).toThrow('32 bytes');
    }
    for (const seed of [2 ** 53, -(2 ** 53), 1e300, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => requestCommitment(salt, { seed })).toThrow(RangeError);
    }
    for (const half of ['\ud800', 'a\udfff', '\ude00\ud83d', '\ud83d\ud83d\ude00']) {
      expect(() => canonicalJson([half])).toThrow('half of a character');
      expect(() => canonicalJson({ [half]: 1 })).toThrow('half of a character');
    }
    const max = Number.MAX_SAFE_INTEGER;
    expect(canonicalJson([max, -max, '\ud83d\ude00'])).toBe(`[${max},${-max},"\ud83d\ude00"]`);
  });
});

/** Texts with all that JSON escapes, and characters whose order differs by UTF-8 and by UTF-16. */
function randomText(): string {
  const letters = 'aZ0"\\/\n\t\b\f\r\u0000\u001f\u007f\u0080ö\u2028€\ufb33\uffff\ud83d\ude00';
  const pool = [...letters, '10', '__proto__'];
  return Array.from({ length: random.below(5) }, () => pool[random.below(pool.length)]).join('');
}

function randomNumber(): number {
  switch (random.below(4)) {
    case 0:
      return random.below(1_000) - 500;
    case 1:
      return (random.below(2 ** 32) * 2 ** 21 + random.below(2 ** 21)) * (random.below(2) || -1);
    case 2:
      return random.below(2 ** 32) / 10 ** random.below(30);
    default: {
      const number = Buffer.from(random.bytes(8)).readDoubleBE();
      return Number.isFinite(number) && !Number.isInteger(number) ? number : 0.1;
    }
  }
}

function randomJson(depth: number): Json {
  switch (random.below(depth > 0 ? 7 : 5)) {
    case 0:
      return null;
    case 1:
      return random.below(2) === 1;
    case 2:
      return randomText();
    case 3:
    case 4:
      return randomNumber();
    case 5:
      return Array.from({ length: random.below(4) }, () => randomJson(depth - 1));
    default:
      return Object.fromEntries(
        Array.from({ length: random.below(6) }, () => [randomText(), randomJson(depth - 1)]),
      );
  }
}

/** The same value, whose objects were filled in another order. */
function shuffled(value: Json): Json {
  if (Array.isArray(value)) return value.map(shuffled);
  if (value === null || typeof value !== 'object') return value;
  const fields = Object.entries(value) as [string, Json][];
  for (let last = fields.length - 1; last > 0; last -= 1) {
    const at = random.below(last + 1);
    [fields[at], fields[last]] = [fields[last] as [string, Json], fields[at] as [string, Json]];
  }
  return Object.fromEntries(fields.map(([field, held]) => [field, shuffled(held)]));
}

/** By the words of RFC 8785, unit by unit, and with nothing of JSON.stringify. */
function written(value: Json): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number') return Object.is(value, -0) ? '0' : `${value}`;
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (value === null) return 'null';
  if (Array.isArray(value)) return `[${value.map(written)}]`;
  const inUnits = (text: string) => Buffer.from(text, 'utf16le').swap16();
  const fields = Object.entries(value as Record<string, Json>).toSorted(([one], [other]) =>
    inUnits(one).compare(inUnits(other)),
  );
  return `{${fields.map(([field, held]) => `${quoted(field)}:${written(held)}`)}}`;
}

function quoted(text: string): string {
  const short: Record<number, string> = {
    8: 'b',
    9: 't',
    10: 'n',
    12: 'f',
    13: 'r',
    34: '"',
    92: '\\',
  };
  let result = '"';
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (short[unit]) result += `\\${short[unit]}`;
    else if (unit < 32) result += `\\u${unit.toString(16).padStart(4, '0')}`;
    else result += text[at];
  }
  return `${result}"`;
}

/** JSON of a value in one of its spellings. */
function spelled(value: Json): string {
  const space = () => ['', '', ' ', '\t', '\r\n'][random.below(5)];
  if (typeof value === 'string') return `"${Array.from(value, spelledCharacter).join('')}"`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) {
    return `[${value.map((item) => `${spelled(item)}${space()}`).join(',')}]`;
  }
  const fields = Object.entries(shuffled(value) as Record<string, Json>).flatMap(([name, held]) => {
    const written = `${space()}${spelled(name)}${space()}:${space()}`;
    // Of a repeated key the last value counts.
    return [...(random.below(4) === 0 ? [`${written}0`] : []), `${written}${spelled(held)}`];
  });
  return `{${fields.join(',')}}`;
}

function spelledCharacter(character: string): string {
  if (random.below(3) > 0) return JSON.stringify(character).slice(1, -1);
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
