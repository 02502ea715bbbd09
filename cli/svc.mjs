#!/usr/bin/env node
// `svc`: every verb, from the TypeScript sources, in a checkout; in the installed package those that
// need neither the database nor the service.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PARENT_CHECK_INTERVAL_MS = 500;

if (process.env.npm_lifecycle_event) endWithNpm();
const source = fileURLToPath(new URL('main.ts', import.meta.url));
if (existsSync(source)) {
  const { runPinnedNode } = await import('../bin/pinnedNode.mjs');
  runPinnedNode([source, ...process.argv.slice(2)], { endsWithParent: true });
} else {
  requireNode();
  await import('./dist/cli/packageMain.js');
}

/** A package that svc needs would end with a stack on an older one. */
function requireNode() {
  const { engines } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));
  const oldest = engines.node.replace('>=', '');
  const order = { numeric: true };
  if (process.versions.node.localeCompare(oldest, undefined, order) >= 0) return;
  const needed = `svc needs Node ${oldest} or newer, and this is ${process.version}.`;
  process.stderr.write(`${needed} Install one beside it: npm install node@24\n`);
  process.exit(1);
}

/** npm passes its signals on to its shell alone, and nothing when it is killed. */
function endWithNpm() {
  const started = ancestors();
  setInterval(() => {
    if (ancestors() !== started) process.kill(process.pid, 'SIGTERM');
  }, PARENT_CHECK_INTERVAL_MS).unref();
}

/** This process's parent; and that of the parent, where it is the shell between npm and this process. */
function ancestors() {
  try {
    const stat = readFileSync(`/proc/${process.ppid}/stat`, 'utf8');
    const [, shellParent = ''] = /^\d+ \(\w*sh\) \w (\d+)/.exec(stat) ?? [];
    return `${process.ppid} ${shellParent}`;
  } catch {
    // Only Linux has these files. Elsewhere the shell runs its last command in its own place.
    return `${process.ppid}`;
  }
}
