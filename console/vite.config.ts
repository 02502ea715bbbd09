import { join } from 'node:path';
import { defineConfig } from 'vite';

/** Builds the pages into `console/dist`, which the API serves below /console. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  publicDir: false,
  // The pages use the client as browsers get it.
  resolve: { conditions: ['browser', 'module', 'import', 'default'] },
  build: {
    outDir: join(import.meta.dirname, 'dist'),
    emptyOutDir: true,
    target: 'es2022',
    // The policy of the pages takes no data: URL.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      onwarn(warning, warn) {
        // It means something to servers alone.
        if (warning.code !== 'MODULE_LEVEL_DIRECTIVE') warn(warning);
      },
      input: ['index.html', 'verify.html'].map((name) => join(import.meta.dirname, name)),
    },
  },
});
