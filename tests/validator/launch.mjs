// `npm run test:validator`: main.ts on the pinned Node.
import { fileURLToPath } from 'node:url';
import { installIfNeeded, runPinnedNode } from '../../bin/pinnedNode.mjs';

installIfNeeded();
runPinnedNode([fileURLToPath(new URL('main.ts', import.meta.url)), ...process.argv.slice(2)]);
