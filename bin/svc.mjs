#!/usr/bin/env node
// `npx svc`: the TypeScript sources in a checkout, their compiled form in the installed package.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root, runPinnedNode } from './pinnedNode.mjs';

const source = join(root, 'cli/main.ts');
if (existsSync(source)) runPinnedNode([source, ...process.argv.slice(2)]);
else await import('../dist/cli/main.js');
