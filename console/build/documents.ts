import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Plugin, Rolldown } from 'vite';
import { APP_PAGES, documentOf, VERIFY_PATHS } from '../routes.ts';
import { type ClassOf, renderFrame, renderShell } from './shell.ts';

/** Fonts that every page shows at once. */
const FONTS = /^assets\/geist(-mono)?-latin-wght-normal.*\.woff2$/;
const ROOT = '<div id="root">';
const BODY = /<body>(.*)<\/body>/s;

interface Link {
  readonly path: string;
  readonly attributes: string;
}

/**
 * Writes a document for each page of the app, made of `index.html`. It asks for everything that the
 * page is made of at once, and has the navigation in it: otherwise the page's own code was asked for
 * when the app had started, and nothing was there before.
 *
 * Verify's document gets the same navigation.
 *
 * @param base where the files are served
 */
export function pageDocuments(base: string, classOf: ClassOf): Plugin {
  return {
    name: 'page-documents',
    async writeBundle({ dir = '' }, bundle) {
      const template = await readFile(join(dir, 'index.html'), 'utf8');
      const verify = join(dir, 'verify.html');
      const fonts = Object.keys(bundle)
        .filter((path) => FONTS.test(path))
        .map((path) => ({ path, attributes: 'rel="preload" as="font" type="font/woff2"' }));
      const complete = (document: string, links: readonly Link[]) =>
        // Behind those of every page, whose styles come first.
        document.replace('  </head>', (end) => {
          const added = links
            .filter(({ path }) => !document.includes(`"${base}${path}"`))
            .map(
              ({ path, attributes }) => `<link ${attributes} crossorigin href="${base}${path}">`,
            );
          return [...added.map((link) => `    ${link}`), end].join('\n');
        });
      const framed = (await readFile(verify, 'utf8')).replace(
        BODY,
        (_, content: string) =>
          `<body>${renderFrame(classOf, { path: VERIFY_PATHS[0], content })}\n  </body>`,
      );
      await writeFile(verify, complete(framed, fonts));
      const shell = renderShell(classOf);
      for (const { module } of Object.values(APP_PAGES)) {
        const document = complete(template, [...fonts, ...linksOf(bundle, module)]);
        const path = join(dir, documentOf(module));
        await mkdir(dirname(path), { recursive: true });
        await writeFile(
          path,
          document.replace(ROOT, () => `${ROOT}${shell}`),
        );
      }
    },
  };
}

/** Styles and scripts of a page's module. @throws Error where the bundle lacks it */
function linksOf(bundle: Rolldown.OutputBundle, module: string): Link[] {
  const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
  const entry = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(`/${module}`));
  if (entry === undefined) throw new Error(`The bundle has no chunk of ${module}`);
  const found = new Set<Rolldown.OutputChunk>();
  const visit = (chunk: Rolldown.OutputChunk | undefined) => {
    if (chunk === undefined || found.has(chunk)) return;
    found.add(chunk);
    for (const path of chunk.imports) visit(chunks.find(({ fileName }) => fileName === path));
  };
  visit(entry);
  const styles = new Set([...found].flatMap((one) => [...(one.viteMetadata?.importedCss ?? [])]));
  return [
    ...[...styles].map((path) => ({ path, attributes: 'rel="stylesheet"' })),
    ...[...found].map(({ fileName }) => ({ path: fileName, attributes: 'rel="modulepreload"' })),
  ];
}
