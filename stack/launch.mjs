// `npm start`: any Node runs this, and the pinned one the stack.
import { join } from 'node:path';
import { installIfNeeded, root, runPinnedNode } from '../bin/pinnedNode.mjs';

installIfNeeded();
runPinnedNode([join(root, 'stack/main.ts')], { endsWithParent: true });
