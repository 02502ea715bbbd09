import type { Express, RequestHandler } from 'express';
import { buildDocument } from '../../docs/document.ts';
import { errorsPage, guidePages } from '../../docs/guidePages.ts';
import { servePage } from '../../docs/page.ts';
import { referencePage } from '../../docs/referencePage.ts';
import type { Readiness } from './readiness.ts';

/** GET /health: the process is up. */
export function getHealth(): RequestHandler {
  return (_request, response) => {
    response.json({ status: 'ok' });
  };
}

/** GET /ready: 200 while database, ledger and a worker can be reached; else 503 and which cannot. */
export function getReadiness(options: { readiness: () => Promise<Readiness> }): RequestHandler {
  return async (_request, response) => {
    const { isReady, parts } = await options.readiness();
    const status = isReady ? 'ready' : 'not_ready';
    response
      .status(isReady ? 200 : 503)
      .set('cache-control', 'no-store')
      .json({ status, parts });
  };
}

/**
 * GET /openapi.json, and the pages made of it and of the guides. They are the app's own routes: a
 * router would answer OPTIONS by itself.
 */
export function serveDocs(app: Express, { publicUrl }: { publicUrl: string }): void {
  const document = buildDocument(publicUrl);
  app.get('/openapi.json', serveJson(document));
  const pages = [referencePage(document), ...guidePages(), errorsPage()];
  for (const page of pages) app.get(page.path, servePage(page, pages));
}

function serveJson(document: unknown): RequestHandler {
  const text = JSON.stringify(document);
  return (_request, response) => {
    response.set('cache-control', 'public, max-age=300').type('json').send(text);
  };
}
