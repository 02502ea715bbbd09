import { parseJson } from '../../../programs/client/parseJson.ts';
import { bytesToHex } from '../../../programs/client/platform/bytes.ts';
import { canonicalJson, type Json, requestCommitment } from '../../../programs/client/proof.ts';
import type { Random } from '../../../testing/random.ts';
import type { AnyUnitCase } from './cases.ts';
import { drawRequest, drawText, spell } from './draw.ts';

const DRAWN = 8;

/** Canonical JSON, and the commitment to a request. */
export function canonicalCases(random: Random): AnyUnitCase[] {
  const drawn = Array.from({ length: DRAWN }, (_, at): AnyUnitCase => {
    const values = Array.from({ length: 5 }, () => drawValue(random, 3));
    const json = spell(random, values);
    const expected = { canonical: canonicalJson(parseJson(json) as Json) };
    return { kind: 'canonical_json', name: `drawn ${at + 1}`, input: { json }, expected };
  });
  return [...drawn, ...commitmentCases(random)];
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

function commitmentCases(random: Random): AnyUnitCase[] {
  const drawn = Array.from({ length: 4 }, () => drawRequest(random));
  const commitmentCase = (name: string, json: string): AnyUnitCase => {
    const salt = random.bytes(32);
    const commitment = bytesToHex(requestCommitment(salt, parseJson(json) as Json));
    const input = { salt: bytesToHex(salt), request: json };
    return { kind: 'commitment', name, input, expected: { commitment } };
  };
  return [
    ...drawn.map((request, at) => commitmentCase(`drawn ${at + 1}`, spell(random, request))),
    commitmentCase('the first, by another salt', JSON.stringify(drawn[0])),
  ];
}
