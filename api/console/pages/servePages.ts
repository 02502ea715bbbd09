import type { Express, RequestHandler, Response } from 'express';
import { APP_PATHS, VERIFY_PATHS } from '../../../console/routes.ts';
import { html } from '../../docs/page.ts';
import { ApiError } from '../../http/contracts/errors.ts';
import type { ConsoleConfig } from '../contracts/session.ts';
import { type PageFile, type PageFiles, pageFile } from './files.ts';
import { appPolicy, verifyPolicy } from './policy.ts';

/** What the pages and their policies name. */
type Deployment = Pick<ConsoleConfig, 'rpc_url' | 'program_id' | 'development_wallet_url'>;

const ASSETS = '/console/assets/';
/** Their names hold a hash of what they are. */
const FOR_EVER = 'public, max-age=31536000, immutable';

/** Serves the pages on their own routes: any other path stays unknown. */
export function servePages(app: Express, files: PageFiles, deployment: Deployment): void {
  const { rpc_url, development_wallet_url } = deployment;
  const appHeaders = { 'content-security-policy': appPolicy([rpc_url, development_wallet_url]) };
  for (const path of APP_PATHS) app.get(path, serveDocument(files.app, appHeaders));

  const verify = pageFile('verify.html', withNames(files.verify.bytes, deployment));
  const verifyHeaders = {
    'content-security-policy': verifyPolicy(),
    // A document in a sandbox must not ask for a group of its own.
    'cross-origin-opener-policy': 'unsafe-none',
  };
  for (const path of VERIFY_PATHS) app.get(path, serveDocument(verify, verifyHeaders));

  app.get(`${ASSETS}*file`, serveAsset(files));
}

function serveDocument(file: PageFile, headers: Record<string, string>): RequestHandler {
  return (request, response) => {
    response.set({ ...headers, 'cache-control': 'no-cache' });
    return send(response, file, request.get('accept-encoding'));
  };
}

function serveAsset(files: PageFiles): RequestHandler {
  return (request, response) => {
    const file = files.assets.get(request.path.slice(ASSETS.length));
    if (!file) throw new ApiError('route_not_found', `There is no GET ${request.path}.`);
    response.set({
      'cache-control': FOR_EVER,
      // Verify has an origin of its own, and loads its script as any other site would.
      'access-control-allow-origin': '*',
    });
    return send(response, file, request.get('accept-encoding'));
  };
}

async function send(
  response: Response,
  file: PageFile,
  acceptEncoding: string | undefined,
): Promise<void> {
  const compressed = await file.compressed(acceptEncoding);
  response.set('content-type', file.type).vary('Accept-Encoding');
  if (compressed) response.set('content-encoding', compressed.encoding);
  response.end(compressed?.bytes ?? file.bytes);
}

/** Verify cannot ask our API: what it has to know stands in its document. */
function withNames(document: Buffer, { rpc_url, program_id }: Deployment): Buffer {
  const named = Object.entries({ 'svc-rpc': rpc_url ?? '', 'svc-program': program_id }).reduce(
    (text, [name, content]) =>
      text.replace(`<meta name="${name}" content=""`, () => {
        const filled = html`<meta name="${name}" content="${content}"`;
        return filled.text;
      }),
    document.toString('utf8'),
  );
  return Buffer.from(named);
}
