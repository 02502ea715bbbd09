import type { Express, RequestHandler } from 'express';
import { buildDocument } from '../docs/buildDocument.ts';
import { errorsPage } from '../docs/pages/errorsPage.ts';
import { guidePages } from '../docs/pages/guidePages.ts';
import { servePage } from '../docs/pages/page.ts';
import { referencePage } from '../docs/pages/referencePage.ts';

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
