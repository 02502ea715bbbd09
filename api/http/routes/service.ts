import type { Express, RequestHandler } from 'express';
import type { Database } from '../../../common/postgres.ts';
import { buildDocument } from '../../docs/document.ts';
import { errorsPage, guidePages } from '../../docs/guidePages.ts';
import { modelsPage } from '../../docs/modelsPage.ts';
import { type Packages, packagesPage, servePackage } from '../../docs/packagesPage.ts';
import { servePage } from '../../docs/page.ts';
import { referencePage } from '../../docs/referencePage.ts';
import { selectCreditMint } from '../../sql/accounts.ts';
import { listedModels, type ModelServices } from './models.ts';
import type { Readiness } from './readiness.ts';

/** GET /health: the process is up; 503 once it has begun to end, so that balancers leave it. */
export function getHealth(options: { isDraining: () => boolean }): RequestHandler {
  return (_request, response) => {
    const isDraining = options.isDraining();
    response.status(isDraining ? 503 : 200).json({ status: isDraining ? 'draining' : 'ok' });
  };
}

/** GET /ready: 200 while all that a completion needs is there; else 503 and which part is not. */
export function getReadiness(options: { readiness: () => Promise<Readiness> }): RequestHandler {
  return async (_request, response) => {
    const { status, parts } = await options.readiness();
    response
      .status(status === 'ready' ? 200 : 503)
      .set('cache-control', 'no-store')
      .json({ status, parts });
  };
}

/**
 * GET /openapi.json, and the pages made of it and of the guides. They are the app's own routes: a
 * router would answer OPTIONS by itself.
 */
export function serveDocs(
  app: Express,
  {
    publicUrl,
    packagesFolder,
    database,
    ...services
  }: Packages & { database: Database } & ModelServices,
): void {
  const document = buildDocument(publicUrl);
  app.get('/openapi.json', serveJson(document));
  const [start, ...guides] = guidePages(publicUrl);
  const models = modelsPage({
    listed: () => listedModels(services),
    creditMint: () => selectCreditMint(database),
  });
  const packages = { publicUrl, packagesFolder };
  const made = [models, referencePage(document), errorsPage(), packagesPage(packages)];
  const pages = [start, ...made, ...guides].filter((page) => page !== undefined);
  for (const page of pages) app.get(page.path, servePage(page, pages));
  app.get('/packages/:name', servePackage(packages));
}

function serveJson(document: unknown): RequestHandler {
  const text = JSON.stringify(document);
  return (_request, response) => {
    response.set('cache-control', 'public, max-age=300').type('json').send(text);
  };
}
