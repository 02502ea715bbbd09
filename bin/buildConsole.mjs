// Builds the pages of the web app into console/dist, unless they were built from the same sources.
// `npm start` and `npm run build` run it. It does nothing where only the built pages were shipped.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from './builtFolder.mjs';
import { root } from './pinnedNode.mjs';

const built = join(root, 'console/dist');
/** The pages, and all that they import. */
const SOURCES = [
  ...['console', 'programs/client', 'webhooks'],
  ...['api/contracts', 'common/priceSteps.ts', 'common/tokens.css'],
  'webhookOperations/deliveryStatuses.ts',
];

if (existsSync(join(root, 'console/index.html'))) {
  await makeFolder({ built, sources: SOURCES, build });
} else if (!existsSync(join(built, 'index.html'))) {
  process.stderr.write('its pages are not in this copy\n');
  process.exitCode = 1;
}

async function build(outDir) {
  const { build: bundle } = await import('vite');
  await bundle({
    configFile: join(root, 'console/build/vite.config.ts'),
    logLevel: 'error',
    build: { outDir, emptyOutDir: true },
  });
}
