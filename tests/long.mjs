// `npm run test:long -- walk --steps 50000 --seed 7`: one long test alone, with a length and a seed.
// `test:faults`, `test:bare` and the like are further names of this table.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { installIfNeeded, runPinnedNode } from '../bin/pinnedNode.mjs';

/** Test files. The value of the option, or else the default, is in the variable that the file reads. */
const FILES = {
  fuzz: {
    file: 'tests/localnet/fuzz.test.ts',
    option: 'cases',
    variable: 'LOCALNET_FUZZ',
    fallback: '40000',
  },
  simulate: {
    file: 'tests/indexer/simulator/simulator.test.ts',
    option: 'runs',
    variable: 'SIMULATOR_RUNS',
  },
  signatures: {
    file: 'tests/programs/signatures.test.ts',
    option: 'count',
    variable: 'SIGNATURES',
    fallback: '100000',
  },
  ceiling: {
    file: 'tests/api/ceiling.test.ts',
    option: 'requests',
    variable: 'CEILING_REQUESTS',
    fallback: '10000',
  },
  shapes: {
    file: 'tests/receipts/shapes.test.ts',
    option: 'count',
    variable: 'SHAPES',
    fallback: '2000',
  },
  calls: {
    file: 'tests/receipts/drawnCalls.test.ts',
    option: 'count',
    variable: 'CALLS',
    fallback: '10000',
  },
  walk: { file: 'tests/programs/randomWalk.test.ts', option: 'steps', variable: 'WALK_STEPS' },
  faults: {
    file: 'tests/faults/faults.test.ts',
    option: 'faults',
    variable: 'FAULTS',
    fallback: '1000',
  },
};
/** Commands of their own, which read the arguments themselves. */
const COMMANDS = {
  agents: 'clients/agents/main.ts',
  bare: 'machine/bare.ts',
  bodies: 'bodies/main.ts',
  clients: 'clients/main.ts',
  mutants: 'mutants/main.ts',
  validator: 'validator/main.ts',
  vectors: 'receipts/main.ts',
};

const [, , name, ...args] = process.argv;
if (COMMANDS[name] !== undefined) {
  installIfNeeded();
  runPinnedNode([fileURLToPath(new URL(COMMANDS[name], import.meta.url)), ...args]);
} else if (FILES[name] !== undefined) {
  await runFile(FILES[name]);
} else {
  const names = [...Object.keys(FILES), ...Object.keys(COMMANDS)].join('|');
  fail(`Name a long test: npm run test:long -- ${names}`);
}

async function runFile({ file, option, variable, fallback }) {
  const options = { [option]: { type: 'string', default: fallback }, seed: { type: 'string' } };
  const { values } = parseArgs({ args, options });
  if (values[option] !== undefined) process.env[variable] = values[option];
  if (values.seed !== undefined) process.env.SEED = values.seed;
  process.argv.splice(2, Number.POSITIVE_INFINITY, file);
  await import('./launch.mjs');
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}
