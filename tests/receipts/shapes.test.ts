import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { readAnswer } from '../../programs/client/verify/answer/readAnswer.ts';
import { needs } from '../../testing/machine/needs.ts';
import { ownFolder } from '../../testing/ownFolder.ts';
import { createRandom } from '../../testing/random.ts';
import { saidByNodes } from './pageTables.ts';
import { runInPython } from './runInPython.ts';
import { drawFile, TRUTH } from './shapes/drawFile.ts';
import { fieldLies, heldIn } from './shapes/fieldLies.ts';
import { shownBy } from './shapes/readers.ts';
import type { VectorCase } from './vectors/cases.ts';
import { COMMITTED } from './vectors/committed.ts';
import { resultOf } from './vectors/runCase.ts';

const COUNT = Number(process.env.SHAPES ?? 400);
const TIMEOUT_MS = 60_000 + 60 * COUNT;

const random = createRandom();
const folder = ownFolder('svc-shapes');
const files = Array.from({ length: COUNT }, () => drawFile(random));
const lies = fieldLies();
/** The second verifier judges one of so many, at random. */
const share = Math.max(1, Math.floor(lies.length / COUNT));

/** Whether an answer would hold: it says the text that was proven, and what is recorded. */
function holds(saved: string): boolean {
  try {
    const { text, details, model, svc, usage } = readAnswer(saved);
    const said = [text, model, usage['usage.cost'], svc?.credits_charged];
    const { text: proven, calls, model: named, cost, credits_charged } = TRUTH;
    if (!isDeepStrictEqual(details?.toolCalls, calls)) return false;
    const recorded = [proven, named, cost, credits_charged];
    return text === proven && said.every((one, at) => one === undefined || one === recorded[at]);
  } catch {
    return false;
  }
}

describe(`drawn files and lies of nodes (seed ${random.seed})`, () => {
  let cases: VectorCase[];
  beforeAll(async () => {
    const saved = files.map((one, at) => ({
      kind: 'answer',
      name: `${at}`,
      input: { saved: one },
    }));
    const drawn = [...saved, ...lies] as VectorCase[];
    const judge = async (one: VectorCase) => ({ ...one, expected: await resultOf(one, COMMITTED) });
    cases = [];
    for (const one of drawn) cases.push((await judge(one)) as VectorCase);
  }, TIMEOUT_MS);

  it('show the same to every client where the file holds', () => {
    const held = files.filter(holds);
    expect(held.length).toBeGreaterThan(COUNT / 40);
    const shown = held.flatMap((file) =>
      Object.entries(shownBy(file)).map(([client, one]) => ({ file, client, ...one })),
    );
    expect(shown.length).toBeGreaterThan(held.length);
    const { text, calls, model, cost, credits_charged } = TRUTH;
    const isTrue = (one: (typeof shown)[number]) =>
      one.text === text &&
      isDeepStrictEqual(one.calls, calls) &&
      one.models.every((said) => said === model) &&
      one.costs.every((said) => said === cost) &&
      one.charges.every((said) => said === credits_charged);
    expect(shown.filter((one) => !isTrue(one))).toEqual([]);
  });

  it('hold for lies about the fields that the page names, and for no others', () => {
    expect(heldIn(cases)).toEqual(saidByNodes());
  });

  needs('python3-cryptography').it(
    'are judged alike by both verifiers',
    async () => {
      const path = join(folder, 'drawn.json');
      const some = cases.filter((one) => one.kind === 'answer' || random.below(share) === 0);
      await writeFile(path, JSON.stringify({ ...COMMITTED, cases: some }));
      const output = `${some.length} of ${some.length} cases as expected.\n`;
      expect(await runInPython(path)).toEqual({ code: 0, output });
    },
    TIMEOUT_MS,
  );
});
