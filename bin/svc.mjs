#!/usr/bin/env node
// `npx svc`: the TypeScript sources in a checkout, their compiled form in the installed package.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root, runPinnedNode } from './pinnedNode.mjs';

const compiled = join(root, 'dist/cli/main.js');
const source = join(root, 'cli/main.ts');
runPinnedNode([existsSync(source) ? source : compiled, ...process.argv.slice(2)]);
