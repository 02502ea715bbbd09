import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { checkout } from './artifacts.ts';

/**
 * Runs the Rust tests of the escrow's pure parts on this machine. It takes the cargo that `CARGO`
 * names, else Debian's, else that of the path. `--cases` says how many random inputs a property gets,
 * `--seed` which. Ends with exit code 2 where cargo or its packages are missing.
 */

const CANNOT_TEST = 2;
const DEBIANS = { cargo: '/usr/bin/cargo', rustc: '/usr/bin/rustc' };

const { values } = parseArgs({
  options: { cases: { type: 'string', default: '256' }, seed: { type: 'string', default: '1' } },
});

const isDebians = process.env.CARGO === undefined && existsSync(DEBIANS.cargo);
const cargo = process.env.CARGO ?? (isDebians ? DEBIANS.cargo : 'cargo');
const environment = {
  ...process.env,
  ...(isDebians ? { RUSTC: DEBIANS.rustc } : {}),
  // The curve's arithmetic takes a hundred times as long otherwise. Overflows are found all the same.
  CARGO_PROFILE_TEST_OPT_LEVEL: '1',
  PROPTEST_CASES: values.cases,
  PROPTEST_RNG_SEED: values.seed,
  PROPTEST_DISABLE_FAILURE_PERSISTENCE: '1',
};
/** Not in programs/, where cargo would find the settings of the virtual machine. */
const run = (...options: string[]) =>
  spawnSync(cargo, options, { cwd: checkout, env: environment, stdio: 'inherit' }).status;

if (run('fetch', '--locked') !== 0) {
  console.error(`Cannot test: no ${cargo}, or it cannot fetch the packages of Cargo.lock`);
  process.exit(CANNOT_TEST);
}
console.log(`${values.cases} inputs for each property, from seed ${values.seed}`);
process.exit(run('test', '--locked', '--package', 'escrow') ?? 1);
