import type { Express, Request, RequestHandler, Response } from 'express';
import {
  APP_PAGES,
  type AppPage,
  documentOf,
  type EarlyRead,
  SIGN_IN_DOCUMENT,
  VERIFY_PATHS,
} from '../../../console/routes.ts';
import { ApiError } from '../../contracts/errors.ts';
import { type ReadPath, readAccess } from '../../contracts/index.ts';
import type { ConsoleConfig } from '../../contracts/session.ts';
import { html } from '../../docs/html.ts';
import { readSessionCookie } from '../../routes/cookie.ts';
import {
  chooseEncoding,
  filledDocument,
  type PageFile,
  type PageFiles,
  requireFile,
} from './files.ts';
import { appPolicy, verifyPolicy } from './policy.ts';

/** Settings that the pages and their policies contain. */
type Deployment = Pick<ConsoleConfig, 'rpc_url' | 'program_id' | 'development_wallet_url'>;

const ASSETS = '/console/assets/';
/** For files whose names contain a hash of their content. */
const FOR_EVER = 'public, max-age=31536000, immutable';

/** Serves each page on its own route, and its first at the root, too. Any other path is a 404. */
export function servePages(app: Express, files: PageFiles, deployment: Deployment): void {
  const { rpc_url, development_wallet_url } = deployment;
  const appHeaders = { 'content-security-policy': appPolicy([rpc_url, development_wallet_url]) };
  const signIn = requireFile(files, SIGN_IN_DOCUMENT);
  const entries = [['/', APP_PAGES['/console']], ...Object.entries<AppPage>(APP_PAGES)] as const;
  for (const [path, page] of entries) {
    const document = requireFile(files, documentOf(page));
    app.get(
      path,
      serveDocument((request) => {
        const hasSession = readSessionCookie(request) !== undefined;
        return {
          file: hasSession || page.access === 'public' ? document : signIn,
          headers: { ...appHeaders, vary: 'Cookie', link: earlyReads(request, page, hasSession) },
        };
      }),
    );
  }

  const verify = filledDocument(withNames(requireFile(files, 'verify.html'), deployment));
  const verifyHeaders = {
    'content-security-policy': verifyPolicy(),
    // A sandboxed document must not have this header.
    'cross-origin-opener-policy': 'unsafe-none',
  };
  for (const path of VERIFY_PATHS)
    app.get(
      path,
      serveDocument(() => ({ file: verify, headers: verifyHeaders })),
    );

  app.get(`${ASSETS}*file`, serveAsset(files));
}

/** What every page asks for at once. */
const COMMON_READS: readonly EarlyRead[] = ['/session', '/config', '/account'];

/**
 * Has the browser ask the API for what the page will, before its script does, as far as the reader may
 * read it. Without that, Jobs was drawn after 1,840 ms instead of 1,505. Where the address has filters,
 * the page reads another list.
 */
function earlyReads(request: Request, page: AppPage, hasSession: boolean): string {
  const isShown = page.access === 'public' || hasSession;
  const isFiltered = request.originalUrl.includes('?');
  // A cookie does not show a wallet's roles.
  const mayRead = (read: EarlyRead) => {
    const access = readAccess[read.replace(/\?.*/, '') as ReadPath];
    return access === 'public' || (access === 'session' && hasSession);
  };
  return [...COMMON_READS, ...(isShown && !isFiltered ? page.reads : [])]
    .filter(mayRead)
    .map((read) => `</console/api${read}>; rel=preload; as=fetch; crossorigin`)
    .join(', ');
}

function serveDocument(
  choose: (request: Request) => { file: PageFile; headers: Record<string, string> },
): RequestHandler {
  return (request, response) => {
    const { file, headers } = choose(request);
    response.set({ ...headers, 'cache-control': 'no-cache' });
    send(request, response, file);
  };
}

function serveAsset(files: PageFiles): RequestHandler {
  return (request, response) => {
    const file = files.get(`assets/${request.path.slice(ASSETS.length)}`);
    if (!file) throw new ApiError('route_not_found', `There is no GET ${request.path}.`);
    response.set({
      'cache-control': FOR_EVER,
      // Verify has an origin of its own, so its script is loaded across origins.
      'access-control-allow-origin': '*',
    });
    send(request, response, file);
  };
}

function send(request: Request, response: Response, file: PageFile): void {
  const encoding = chooseEncoding(file, request.get('accept-encoding'));
  response.set('content-type', file.type).vary('Accept-Encoding');
  if (encoding) response.set('content-encoding', encoding);
  response.end(encoding ? file.compressed[encoding] : file.bytes);
}

/** Verify cannot ask our API, so its document contains the settings it needs. */
function withNames(document: PageFile, { rpc_url, program_id }: Deployment): string {
  return Object.entries({ 'svc-rpc': rpc_url ?? '', 'svc-program': program_id }).reduce(
    (text, [name, content]) =>
      text.replace(`<meta name="${name}" content=""`, () => {
        const filled = html`<meta name="${name}" content="${content}"`;
        return filled.text;
      }),
    document.bytes.toString('utf8'),
  );
}
