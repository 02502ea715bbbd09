#!/usr/bin/env node
// `npx svc`: every verb, from the TypeScript sources, in a checkout; in the installed package those
// that need neither the database nor the service.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const source = fileURLToPath(new URL('main.ts', import.meta.url));
if (existsSync(source)) {
  const { runPinnedNode } = await import('../bin/pinnedNode.mjs');
  runPinnedNode([source, ...process.argv.slice(2)], { endsWithParent: true });
} else {
  await import('./dist/cli/published.js');
}
