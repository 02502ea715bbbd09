// Builds the pages of the web app into console/dist, unless they were built from the same sources.
// `npm start` and `npm run build` run it. Where only the built pages were shipped, nothing is to do.
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { root } from './pinnedNode.mjs';

const built = join(root, 'console/dist');
const digestPath = join(built, '.sources');

if (existsSync(join(root, 'console/index.html'))) {
  const digest = digestSources();
  if (!existsSync(digestPath) || readFileSync(digestPath, 'utf8') !== digest) await build(digest);
} else if (!existsSync(join(built, 'index.html'))) {
  process.stderr.write('its pages are not in this copy\n');
  process.exitCode = 1;
}

/** Of everything that the bundle is made of. */
function digestSources() {
  const hash = createHash('sha256');
  const paths = ['console', 'programs/client']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name)),
    )
    .filter((path) => !path.startsWith(built) && !path.includes('node_modules'));
  for (const path of [...paths, join(root, 'package-lock.json')].sort()) {
    hash.update(relative(root, path)).update('\0').update(readFileSync(path)).update('\0');
  }
  return hash.digest('hex');
}

/** Beside the pages that are served, which stay whole until the new ones take their place. */
async function build(digest) {
  const { build: bundle } = await import('vite');
  const cache = join(root, 'node_modules/.cache');
  const made = join(cache, `console-${process.pid}`);
  const replaced = `${made}-replaced`;
  mkdirSync(cache, { recursive: true });
  await bundle({
    configFile: join(root, 'console/build/vite.config.ts'),
    logLevel: 'error',
    build: { outDir: made, emptyOutDir: true },
  });
  writeFileSync(join(made, '.sources'), digest);
  if (existsSync(built)) renameSync(built, replaced);
  renameSync(made, built);
  rmSync(replaced, { recursive: true, force: true });
}
