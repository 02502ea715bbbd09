import { join } from 'node:path';
import { defineConfig, type Plugin } from 'vite';

/** Fonts that every page shows at once: they are asked for with the document. */
const PRELOADED = /^assets\/geist(-mono)?-latin-wght-normal.*\.woff2$/;

const preloadFonts: Plugin = {
  name: 'preload-fonts',
  transformIndexHtml: {
    order: 'post',
    handler: (_html, { bundle = {} }) =>
      Object.keys(bundle)
        .filter((path) => PRELOADED.test(path))
        .map((path) => ({
          tag: 'link',
          attrs: {
            rel: 'preload',
            href: `/console/${path}`,
            as: 'font',
            type: 'font/woff2',
            crossorigin: true,
          },
          injectTo: 'head-prepend' as const,
        })),
  },
};

/** Builds the pages into `console/dist`, which the API serves below /console. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  publicDir: false,
  plugins: [preloadFonts],
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
