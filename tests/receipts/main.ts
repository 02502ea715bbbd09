import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { createRandom } from '../../testing/random.ts';
import { formatVectors } from './vectors/cases.ts';
import { generateVectors } from './vectors/generate.ts';

/**
 * `npm run test:long -- vectors --seed 7 --out vectors.json` makes the vectors by another seed, with
 * new keys, amounts, texts and times.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    out: { type: 'string', default: 'receipts/vectors.json' },
  },
});
const { seed } = createRandom(values.seed === undefined ? undefined : Number(values.seed));
const vectors = await generateVectors(seed);
await writeFile(values.out, formatVectors(vectors));
process.stdout.write(`${vectors.cases.length} cases by seed ${seed} in ${values.out}\n`);
