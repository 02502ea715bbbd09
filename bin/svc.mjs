#!/usr/bin/env node
// `npx svc`: the TypeScript sources in a checkout, their compiled form in the installed package.
// What the commands depend on needs a newer Node than the package: an older one has the pinned one
// that comes along run them.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root, runPinnedNode } from './pinnedNode.mjs';

const COMMANDS_NODE = [22, 19];

function isOlderThan([leastMajor, leastMinor]) {
  const [major, minor] = process.versions.node.split('.').map(Number);
  return major < leastMajor || (major === leastMajor && minor < leastMinor);
}

const source = join(root, 'cli/main.ts');
const compiled = join(root, 'dist/cli/main.js');
if (existsSync(source)) runPinnedNode([source, ...process.argv.slice(2)]);
else if (isOlderThan(COMMANDS_NODE)) runPinnedNode([compiled, ...process.argv.slice(2)]);
else await import(pathToFileURL(compiled).href);
