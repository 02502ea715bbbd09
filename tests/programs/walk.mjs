// `npm run test:walk -- --steps 50000 --seed 7`: the random walk alone, of any length.
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { steps: { type: 'string' }, seed: { type: 'string' } } });
if (values.steps !== undefined) process.env.WALK_STEPS = values.steps;
if (values.seed !== undefined) process.env.SEED = values.seed;
process.argv.splice(2, Number.POSITIVE_INFINITY, 'tests/programs/randomWalk.test.ts');
await import('../launch.mjs');
