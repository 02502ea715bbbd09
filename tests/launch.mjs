// `npm test`: runs jest on the pinned Node; further arguments go to jest, unless they find nothing.
// `--changed` chooses its tests.
import { join } from 'node:path';
import { installIfNeeded, root, runPinnedNode } from '../bin/pinnedNode.mjs';

installIfNeeded();
const args = process.argv.slice(2);
const isChosen = args.some((arg) => /^--changed(=all)?$/.test(arg));
// solana-bankrun reads this when it is loaded, and would print every instruction.
process.env.RUST_LOG ??= 'off';
runPinnedNode([
  '--experimental-vm-modules',
  // The tests use a feature that Node still calls experimental, and says so in every process.
  '--disable-warning=ExperimentalWarning',
  `--import=${new URL('../testing/jest/endWithRun.mjs', import.meta.url).href}`,
  join(root, isChosen ? 'tests/changed/main.ts' : 'tests/found/main.ts'),
  ...args,
]);
