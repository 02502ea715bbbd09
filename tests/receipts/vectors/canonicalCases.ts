import { bytesToHex, hexToBytes } from '../../../programs/client/platform/bytes.ts';
import {
  canonicalJson,
  type Json,
  parseJson,
  requestCommitment,
} from '../../../programs/client/proof.ts';
import type { Random } from '../../../testing/random.ts';
import { type AnyUnitCase, resultOrRefusal } from './cases.ts';
import { drawRequest, drawText, spell } from './draw.ts';

/** JSON with one canonical form, by what it shows. */
const WRITTEN: Readonly<Record<string, string>> = {
  'nothing in it': '{}',
  'white space': ' [ 1 ,\t{ "a" :\n null } ] ',
  'words alone': '[true,false,null]',
  'fields in the order of their UTF-16 units':
    '{"€":1,"\\r":2,"\\ufb33":3,"1":4,"😀":5,"\\u0080":6,"ö":7}',
  'fields that look like numbers': '{"10":1,"9":2,"-1":3,"a":4}',
  'a field of a name that languages use': '{"constructor":1,"__proto__":2}',
  'the escapes that strings have': '"\\u0000\\b\\t\\n\\f\\r\\u001f\\"\\\\\\/\\u007f"',
  'characters that stay as they are': '"\\u2028\\u2029\\u00e9\\ud83d\\ude00<&>"',
  'a text in two normal forms': '["\\u00e9","e\\u0301"]',
  'whole numbers': '[0,-0,1.0,10e-1,1E2,-5]',
  'the largest whole numbers': '[9007199254740991,-9007199254740991]',
  'small numbers': '[0.000001,0.0000001,1e-27,5e-324]',
  'fractions in their shortest form': '[4.50,2e-3,333333333.33333329,0.1,1.7976931348623157e-10]',
  'nested lists': '[[[]],[{}],[[1,[2]]]]',
};

/** JSON that implementations read differently. */
const REFUSED: Readonly<Record<string, string>> = {
  'a whole number beyond 2^53': '{"seed":9007199254740992}',
  'a whole number that no double has': '9007199254740993',
  'a negative one beyond 2^53': '[-9007199254740992]',
  'a whole number as a power of ten': '1e30',
  'a number without an end': '1e400',
  'a number that JSON does not have': '[NaN]',
  'an end that JSON does not have': '-Infinity',
  'the first half of a character': '"\\ud83d"',
  'the second half of a character': '{"a":["x\\ude00y"]}',
  'the halves of a character in the wrong order': '"\\ude00\\ud83d"',
  'half of a character in the name of a field': '{"\\ud83d":1}',
};

const DRAWN = 8;

/** Canonical JSON, and the commitment to a request. */
export function canonicalCases(random: Random): AnyUnitCase[] {
  const drawn = Array.from({ length: DRAWN }, (_, at) => [
    `drawn ${at + 1}`,
    spell(
      random,
      Array.from({ length: 5 }, () => drawValue(random, 3)),
    ),
  ]);
  const texts: Record<string, string> = { ...WRITTEN, ...Object.fromEntries(drawn) };
  return [
    ...Object.entries(texts).map(([name, json]) => canonicalCase(name, json)),
    ...Object.entries(REFUSED).map(([name, json]) => canonicalCase(`refused: ${name}`, json)),
    ...commitmentCases(random),
  ];
}

function canonicalCase(name: string, json: string): AnyUnitCase {
  const expected = resultOrRefusal(() => ({ canonical: canonicalJson(parseJson(json) as Json) }));
  return { kind: 'canonical_json', name, input: { json }, expected };
}

function drawValue(random: Random, depth: number): Json {
  switch (random.below(depth > 0 ? 6 : 4)) {
    case 0:
      return [null, true, false][random.below(3)] as Json;
    case 1:
      return random.below(2 ** 32) - 2 ** 31;
    case 2:
      return (random.below(2 ** 32) / 2 ** 31 - 1) * 10 ** (random.below(40) - 30);
    case 3:
      return drawText(random);
    case 4:
      return Array.from({ length: random.below(5) }, () => drawValue(random, depth - 1));
    default:
      return Object.fromEntries(
        Array.from({ length: random.below(6) }, () => [
          drawText(random),
          drawValue(random, depth - 1),
        ]),
      );
  }
}

const SALTS_REFUSED = { 'a short salt': 31, 'a long salt': 33, 'no salt': 0 };

function commitmentCases(random: Random): AnyUnitCase[] {
  const commitmentCase = (name: string, salt: Uint8Array, request: string): AnyUnitCase => ({
    kind: 'commitment',
    name,
    input: { salt: bytesToHex(salt), request },
    expected: resultOrRefusal(() => ({
      commitment: bytesToHex(
        requestCommitment(hexToBytes(bytesToHex(salt)), parseJson(request) as Json),
      ),
    })),
  });
  const drawn = Array.from({ length: 4 }, () => drawRequest(random));
  const [first] = drawn;
  return [
    ...drawn.map((request, at) =>
      commitmentCase(`drawn ${at + 1}`, random.bytes(32), spell(random, request)),
    ),
    commitmentCase('the first, by another salt', random.bytes(32), JSON.stringify(first)),
    ...Object.entries(SALTS_REFUSED).map(([name, bytes]) =>
      commitmentCase(`refused: ${name}`, random.bytes(bytes), JSON.stringify(first)),
    ),
    commitmentCase('refused: a seed beyond 2^53', random.bytes(32), '{"seed":18014398509481984}'),
  ];
}
