import { readFileSync } from 'node:fs';
import type { Express, RequestHandler, Response } from 'express';
import type { Database } from '../../common/postgres.ts';
import { APP_PAGES } from '../../console/routes.ts';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import { buildDocument } from '../docs/document.ts';
import { find, type Section } from '../docs/find.ts';
import {
  errorsPage,
  guidePages,
  llmsFullText,
  llmsText,
  toMarkdownForm,
} from '../docs/guidePages.ts';
import { html } from '../docs/html.ts';
import { renderMarkdown } from '../docs/markdown.ts';
import { modelsPage } from '../docs/modelsPage.ts';
import { type Packages, packagesPage, servePackage } from '../docs/packagesPage.ts';
import { createFrame, type Frame, type Page, textOf } from '../docs/page.ts';
import { referencePage } from '../docs/referencePage.ts';
import { indexPages } from '../docs/search.ts';
import { selectRules } from '../sql/accounts.ts';
import { listedModels, type ModelServices } from './models.ts';

/** What the documentation takes from the web app. */
interface WebApp {
  readonly deployment: { readonly rpc_url: string | null; readonly program_id: string };
  /** The built pages by their paths, whose fonts these pages share. */
  readonly pages?: ReadonlyMap<string, unknown> | undefined;
}

type DocsServices = Packages &
  ModelServices & { readonly database: Database; readonly console?: WebApp | undefined };

/** Pages that never change while the process runs. */
const LASTING_SECONDS = 300;
const LIVE_SECONDS = 10;
const HITS_MAX = 50;

/**
 * GET /openapi.json, /llms.txt and /receipts/, and the pages made of the document and of the
 * guides: as HTML, as Markdown, and searched. They are the app's own routes: a router would answer
 * OPTIONS by itself.
 *
 * @returns the frame of the pages, for what else is answered with a page
 */
export function serveDocs(app: Express, services: DocsServices): Frame {
  const { publicUrl, console: webApp } = services;
  const document = buildDocument(publicUrl, services.preview);
  const deployment = { publicUrl, nodeOption: nodeOptionOf(webApp) };
  const pages = listPages(services, referencePage(document), guidePages(deployment));
  const frame = createFrame({ pages, fonts: fontsOf(webApp), hasApp: webApp?.pages !== undefined });
  app.get('/openapi.json', serveText('json', JSON.stringify(document)));
  for (const page of pages) {
    app.get(page.path, servePage(page, frame));
    app.get(page.source, serveSource(page, pages));
  }
  const sections = indexPages(pages);
  app.get('/docs/search.json', serveText('json', JSON.stringify(sections)));
  app.get('/docs/search', serveSearch(sections, frame));
  app.get('/llms.txt', serveText('text', llmsText(pages, deployment)));
  app.get('/llms-full.txt', serveText('text', llmsFullText(pages, deployment)));
  app.get('/packages/:name', servePackage(services));
  app.get('/receipts/svc_verify.py', serveText('text', readReceipts('python/svc_verify.py')));
  app.get('/receipts/vectors.json', serveText('json', readReceipts('vectors.json')));
  // Otherwise it is the web app's first page.
  if (webApp?.pages === undefined) app.get('/', serveStart(frame));
  return frame;
}

/** What a verifier takes beside the page on receipts. @throws when it is not there */
function readReceipts(path: string): string {
  return readFileSync(new URL(`../../receipts/${path}`, import.meta.url), 'utf8');
}

/** The one list of all pages, in the order in which they are read. */
function listPages(
  services: DocsServices,
  reference: Page,
  [start, ...guides]: readonly Page[],
): Page[] {
  const models = modelsPage({
    listed: () => listedModels(services),
    creditMint: async () => (await selectRules(services.database))?.credit_mint ?? null,
  });
  const made = [models, reference, errorsPage(), packagesPage(services)];
  return [start, ...made, ...guides].filter((page) => page !== undefined);
}

function fontsOf(webApp: WebApp | undefined) {
  const built = [...(webApp?.pages?.keys() ?? [])];
  const fontAt = (name: RegExp) => {
    const path = built.find((each) => name.test(each));
    return path && `/console/${path}`;
  };
  return {
    sans: fontAt(/^assets\/geist-latin-wght-normal.*\.woff2$/),
    mono: fontAt(/^assets\/geist-mono-latin-wght-normal.*\.woff2$/),
  };
}

/** A node that this service names in public, and the program, where it is another deployment's. */
function nodeOptionOf(webApp: WebApp | undefined): string {
  const { rpc_url = null, program_id } = webApp?.deployment ?? {};
  const isOther = program_id !== undefined && program_id !== PROGRAM_ID.toBase58();
  return `--rpc ${rpc_url ?? '"$SOLANA_RPC_URL"'}${isOther ? ` --program ${program_id}` : ''}`;
}

function servePage(page: Page, frame: Frame): RequestHandler {
  const lasting = page.live ? undefined : frame.drawPage(page, renderMarkdown(page.text));
  return async (_request, response) => {
    const drawn = lasting ?? frame.drawPage(page, renderMarkdown(await textOf(page)));
    cacheFor(response, page.live ? LIVE_SECONDS : LASTING_SECONDS);
    response.set(drawn.headers).type('html').send(drawn.text);
  };
}

function serveSource(page: Page, pages: readonly Page[]): RequestHandler {
  return async (_request, response) => {
    const text = toMarkdownForm(await textOf(page), pages);
    cacheFor(response, page.live ? LIVE_SECONDS : LASTING_SECONDS);
    response.type('text/markdown').send(text);
  };
}

function serveText(type: 'json' | 'text', text: string): RequestHandler {
  return (_request, response) => {
    cacheFor(response, LASTING_SECONDS).type(type).send(text);
  };
}

/** What the pages find by their script, for readers without one. */
function serveSearch(sections: readonly Section[], frame: Frame): RequestHandler {
  return (request, response) => {
    const query = String(request.query.q ?? '').slice(0, 100);
    const found = find(sections, query).slice(0, HITS_MAX);
    const items = found.map(
      ({ path, page, heading, excerpt }) =>
        html`<li><a href="${path}">${heading}</a> <span>${page}</span><small>${excerpt}</small></li>\n`,
    );
    const body = html`<h1>Search</h1>
<p>${found.length === 0 ? 'No section has all of these words.' : `Results: ${found.length}`}</p>
<ul class="found">
${items}</ul>`;
    const { headers, text } = frame.drawAnswer({ title: 'Search', body, query });
    cacheFor(response, LASTING_SECONDS).set(headers).type('html').send(text);
  };
}

function serveStart(frame: Frame): RequestHandler {
  const { title, lead } = APP_PAGES['/console'].head;
  const body = html`<h1>${title}</h1>\n<p>${lead}</p>`;
  const { headers, text } = frame.drawAnswer({ title, body });
  return (_request, response) => {
    cacheFor(response, LASTING_SECONDS).set(headers).type('html').send(text);
  };
}

function cacheFor(response: Response, seconds: number): Response {
  return response.set('cache-control', `public, max-age=${seconds}`);
}
