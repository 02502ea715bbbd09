// `npm run test:mutants -- --count 200 --seed 7`: main.ts on the pinned Node.
import { fileURLToPath } from 'node:url';
import { installIfNeeded, runPinnedNode } from '../../bin/pinnedNode.mjs';

installIfNeeded();
runPinnedNode([fileURLToPath(new URL('main.ts', import.meta.url)), ...process.argv.slice(2)]);
