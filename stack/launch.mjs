// `npm start`: whatever Node runs this, the stack runs on the pinned one.
import { join } from 'node:path';
import { installIfNeeded, root, runPinnedNode } from '../bin/pinnedNode.mjs';

installIfNeeded();
runPinnedNode([join(root, 'stack/main.ts')], { endsWithParent: true });
