import express, { type RequestHandler, type Router } from 'express';
import { buildDocument } from '../docs/buildDocument.ts';
import { errorsPage } from '../docs/pages/errorsPage.ts';
import { guidePages } from '../docs/pages/guidePages.ts';
import { servePage } from '../docs/pages/page.ts';
import { referencePage } from '../docs/pages/referencePage.ts';

/** GET /openapi.json, and the pages made of it and of the guides. */
export function serveDocs({ publicUrl }: { publicUrl: string }): Router {
  const router = express.Router({ caseSensitive: true });
  const document = buildDocument(publicUrl);
  router.get('/openapi.json', serveJson(document));
  const pages = [referencePage(document), ...guidePages(), errorsPage()];
  for (const page of pages) router.get(page.path, servePage(page, pages));
  return router;
}

function serveJson(document: unknown): RequestHandler {
  const text = JSON.stringify(document);
  return (_request, response) => {
    response.set('cache-control', 'public, max-age=300').type('json').send(text);
  };
}
