// `npm test`: runs jest on the pinned Node; further arguments go to jest.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { installIfNeeded, root, runPinnedNode } from '../bin/pinnedNode.mjs';

installIfNeeded();
// Pages of other sources would be refused by every API of the tests.
if (existsSync(join(root, 'console/dist'))) await import('../bin/buildConsole.mjs');
// solana-bankrun reads this when it is loaded, and would print every instruction.
process.env.RUST_LOG ??= 'off';
runPinnedNode([
  '--experimental-vm-modules',
  // The tests use a feature that Node still calls experimental, and says so in every process.
  '--disable-warning=ExperimentalWarning',
  `--import=${new URL('../testing/jest/endWithRun.mjs', import.meta.url).href}`,
  join(root, 'node_modules/jest/bin/jest.js'),
  ...process.argv.slice(2),
]);
