import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Catalog } from '../../api/jobs/catalog.ts';
import type { ModelRow } from '../../api/sql/workers.ts';
import type { WorkerDirectory } from '../../api/workers/directory.ts';
import type { Database } from '../../common/postgres.ts';
import { serveApp } from '../api/serveApp.ts';

/** Every page, as HTML and as Markdown. */
export const PAGES = [
  ['/docs', '/docs/getting-started.md'],
  ['/docs/models', '/docs/models.md'],
  ['/docs/reference', '/docs/reference.md'],
  ['/docs/errors', '/docs/errors.md'],
  ['/packages/', '/docs/packages.md'],
  ['/docs/clients', '/docs/clients.md'],
  ['/docs/webhooks', '/docs/webhooks.md'],
  ['/docs/verify', '/docs/verify.md'],
  ['/docs/receipt', '/docs/receipt.md'],
] as const;

const MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
export const PUBLIC_URL = 'https://api.example.com';

const costly = {
  id: 'costly-70b',
  address: 'of the costly one',
  tier: 'max',
  credits_per_request: 43,
  credits_per_1k_tokens: 21,
  context_window_tokens: 131_072,
  long_completion_threshold_tokens: 500,
  label: '70B',
  originator: '<b>Some|body*',
  created_at: 1_700_000_000n,
  retires_at: null,
} as unknown as ModelRow;
const unhosted = { ...costly, id: 'unhosted-1b', address: 'of the other one' };

/** What was answered, with its text. */
export interface Read {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** The documentation of a service without the web app, whose catalog has two models. */
export async function serveDocumentation() {
  const packagesFolder = mkdtempSync(join(tmpdir(), 'svc-tarballs-'));
  writeFileSync(join(packagesFolder, 'index.json'), '[]');
  const app = await serveApp({
    publicUrl: PUBLIC_URL,
    packagesFolder,
    database: { query: async () => ({ rows: [{ credit_mint: MINT }] }) } as unknown as Database,
    nowSeconds: () => 1_800_000_000n,
    catalog: {
      medianLatencies: async () => new Map([['costly-70b', 310]]),
      list: () => [costly, unhosted],
    } as unknown as Catalog,
    cards: new Map(),
    directory: {
      active: (address: string) => (address === costly.address ? [{}, {}] : []),
      keepsFormat: () => true,
      startProbeMs: () => undefined,
    } as unknown as WorkerDirectory,
  });
  return {
    url: app.url,
    async read(path: string, headers: Record<string, string> = {}): Promise<Read> {
      const response = await fetch(`${app.url}${path}`, { headers });
      return { text: await response.text(), headers: response.headers, status: response.status };
    },
    async close() {
      await app.close();
      rmSync(packagesFolder, { recursive: true });
    },
  };
}

export type ServedDocumentation = Awaited<ReturnType<typeof serveDocumentation>>;

/** The ids of a page's headings, to a depth. */
export const headingIdsOf = (text: string, depth = 6): string[] =>
  [...text.matchAll(/<h(\d) id="([^"]+)"/g)].flatMap(([, level, id = '']) =>
    Number(level) <= depth ? id : [],
  );
