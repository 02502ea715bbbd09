// `npm start`: any Node runs this, and the pinned one the stack.
import { join } from 'node:path';
import { fail, installIfNeeded, isInstalled, root, runPinnedNode } from '../bin/pinnedNode.mjs';
import { findListenFault } from '../common/net/listenFault.mjs';

if (!isInstalled()) {
  const { HOST, PORT } = process.env;
  const fault = await findListenFault(HOST || '127.0.0.1', Number(PORT || 8080));
  if (fault) fail(fault.message);
}
installIfNeeded();
runPinnedNode([join(root, 'stack/main.ts')], { endsWithParent: true });
