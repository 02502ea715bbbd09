// Pages of other sources would be refused by every API of the tests.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../bin/pinnedNode.mjs';

if (existsSync(join(root, 'console/dist'))) await import('../bin/buildConsole.mjs');
