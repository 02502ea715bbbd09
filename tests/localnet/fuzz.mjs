// `npm run test:fuzz -- --cases 40000 --seed 7`: nonsense for the local ledger, as much as is wanted.
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { cases: { type: 'string' }, seed: { type: 'string' } } });
process.env.LOCALNET_FUZZ = values.cases ?? '40000';
if (values.seed !== undefined) process.env.SEED = values.seed;
process.argv.splice(2, Number.POSITIVE_INFINITY, 'tests/localnet/fuzz.test.ts');
await import('../launch.mjs');
