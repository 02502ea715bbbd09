import { join } from 'node:path';
import { root } from './pinnedNode.mjs';

/**
 * The packages that others install: the folder of each one's package.json, and where its code
 * begins. A package's own `imports` choose between Node and browsers; the others are for Node alone.
 */
export const PACKAGES = {
  'svc-webhooks': { folder: 'webhooks', entries: ['webhooks/index'] },
  'svc-client': {
    folder: 'programs/client',
    entries: [
      'programs/client/index',
      'programs/client/sender/index',
      'programs/client/verify/index',
      'programs/client/wallet/index',
    ],
  },
  'svc-testing': { folder: 'testing/kit', entries: ['testing/kit/index'] },
  svc: { folder: 'cli', entries: ['cli/published'] },
};

/** Where the built packages are, each in a folder of its name, as `npm publish` takes it. */
export const BUILT = join(root, 'dist/packages');
