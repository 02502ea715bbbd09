import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { needs } from '../../testing/machine/needs.ts';
import { ownFolder } from '../../testing/ownFolder.ts';
import { createRandom } from '../../testing/random.ts';
import { runInPython } from './runInPython.ts';
import { formatVectors, type Vectors } from './vectors/cases.ts';
import { COMMITTED, FILE } from './vectors/committed.ts';
import { generateVectors } from './vectors/generate.ts';
import { differencesIn, titleOf } from './vectors/runCase.ts';

const { seed } = createRandom();
const python = needs('python3-cryptography');

const folder = ownFolder('svc-vectors');
let drawn: Vectors;
beforeAll(async () => {
  drawn = await generateVectors(seed);
}, 120_000);

/** Each case with its verdicts, where no terms of a job are drawn. */
const verdictsIn = ({ cases }: Vectors) =>
  cases.map((one) => [titleOf(one), 'node' in one && one.node !== 'answers' && one.expected]);

describe(`vectors by another seed (seed ${seed})`, () => {
  it('have other contents with the same verdicts', () => {
    expect(drawn.cases[0]).not.toEqual(COMMITTED.cases[0]);
    expect(verdictsIn(drawn)).toEqual(verdictsIn(COMMITTED));
  });

  it('hold by our code', async () => {
    expect(await differencesIn(drawn)).toEqual([]);
  });

  python.it('hold by the Python file', async () => {
    const path = join(folder, 'vectors.json');
    await writeFile(path, formatVectors(drawn));
    expect(await runInPython(path)).toMatchObject({ code: 0 });
  });
});

python.it('the committed vectors hold by the Python file', async () => {
  expect(await runInPython(FILE)).toMatchObject({ code: 0 });
});
