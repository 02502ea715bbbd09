import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plugin, Rolldown } from 'vite';
import {
  APP_PAGES,
  type AppPage,
  documentOf,
  SIGN_IN_DOCUMENT,
  SIGN_IN_HEAD,
  VERIFY_PATHS,
} from '../routes.ts';
import { type ClassOf, createShell } from './shell.ts';

/** Fonts that every page shows at once. */
const FONTS = /^assets\/geist(-mono)?-latin-wght-normal.*\.woff2$/;
/** What every document's script imports. */
const MAIN = 'app/main.tsx';
const ROOT = '<div id="root">';
const BODY = /<body>(.*)<\/body>/s;
const TITLE = /(?<=<title>).*(?=<\/title>)/;

interface Link {
  readonly path: string;
  readonly attributes: string;
}

/**
 * Writes a document for each page of the app, made of `index.html`. It preloads the page's own code, which
 * the app would request only after its start. It contains navigation, title and lead, which the browser
 * paints before any script.
 *
 * One more document asks for a sign-in. Verify's document gets the same navigation.
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
        // Behind those of every page, with the styles.
        document.replace('  </head>', (end) => {
          const added = links
            .filter(({ path }) => !document.includes(`"${base}${path}"`))
            .map(
              ({ path, attributes }) => `<link ${attributes} crossorigin href="${base}${path}">`,
            );
          return [...added.map((link) => `    ${link}`), end].join('\n');
        });
      const shell = createShell(classOf);
      const framed = (await readFile(verify, 'utf8')).replace(
        BODY,
        (_, content: string) =>
          `<body>${shell.renderFrame({ path: VERIFY_PATHS[0], content })}\n  </body>`,
      );
      await writeFile(verify, complete(framed, fonts));
      await mkdir(join(dir, 'documents'), { recursive: true });
      const write = (
        file: string,
        modules: readonly string[],
        { path, title, content }: { path: string; title: string | undefined; content: string },
      ) =>
        writeFile(
          join(dir, file),
          complete(template, [...fonts, ...linksOf(bundle, [MAIN, ...modules])])
            .replace(TITLE, (name) => (title ? `${title} · svc` : name))
            .replace(ROOT, () => `${ROOT}${shell.renderApp({ path, content })}`),
        );
      for (const [path, page] of Object.entries<AppPage>(APP_PAGES)) {
        const { module, head } = page;
        const content = head ? shell.renderHead(head) : '';
        await write(documentOf(page), [module], { path, title: head?.title, content });
      }
      const asking = { path: '', title: SIGN_IN_HEAD.title, content: shell.renderSignIn() };
      await write(SIGN_IN_DOCUMENT, [], asking);
    },
  };
}

/** The scripts of these modules. @throws Error where the bundle lacks one */
function linksOf(bundle: Rolldown.OutputBundle, modules: readonly string[]): Link[] {
  const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
  const found = new Set<Rolldown.OutputChunk>();
  const visit = (chunk: Rolldown.OutputChunk | undefined) => {
    if (chunk === undefined || found.has(chunk)) return;
    found.add(chunk);
    for (const path of chunk.imports) visit(chunks.find(({ fileName }) => fileName === path));
  };
  for (const module of modules) {
    const entry = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(`/${module}`));
    if (entry === undefined) throw new Error(`The bundle has no chunk of ${module}`);
    visit(entry);
  }
  return [...found].map(({ fileName }) => ({ path: fileName, attributes: 'rel="modulepreload"' }));
}
