// `npm run test:simulate -- --runs 1000 --seed 7`: the mirror's simulator alone, from any seed on.
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { runs: { type: 'string' }, seed: { type: 'string' } } });
if (values.runs !== undefined) process.env.SIMULATOR_RUNS = values.runs;
if (values.seed !== undefined) process.env.SEED = values.seed;
process.argv.splice(2, Number.POSITIVE_INFINITY, 'tests/indexer/simulator/simulator.test.ts');
await import('../../launch.mjs');
