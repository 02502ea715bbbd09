// `npm run test:faults -- --faults 10000 --seed 7`: faults over the whole service, as many as wanted.
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { faults: { type: 'string' }, seed: { type: 'string' } } });
process.env.FAULTS = values.faults ?? '1000';
if (values.seed !== undefined) process.env.SEED = values.seed;
process.argv.splice(2, Number.POSITIVE_INFINITY, 'tests/faults/faults.test.ts');
await import('../launch.mjs');
