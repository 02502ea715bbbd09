import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request } from 'undici';
import { errorTable } from '../../api/contracts/errorTable.ts';
import { buildDocument } from '../../api/docs/document.ts';
import { html, renderGuide } from '../../api/docs/page.ts';
import type { Catalog } from '../../api/jobs/catalog.ts';
import type { ModelRow } from '../../api/sql/workers.ts';
import type { WorkerDirectory } from '../../api/workers/directory.ts';
import { PUBLISHED } from '../../cli/program.ts';
import { VERBS } from '../../cli/verbs.ts';
import type { Database } from '../../common/postgres.ts';
import { serveApp } from './serveApp.ts';

const paths = [
  ...['/docs', '/docs/models', '/docs/reference', '/docs/errors'],
  ...['/docs/clients', '/docs/webhooks', '/docs/verify', '/packages/'],
];
const NOW_SECONDS = 1_800_000_000n;
const MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const costly = {
  id: 'costly-70b',
  address: 'of the costly one',
  tier: 'max',
  credits_per_request: 43,
  credits_per_1k_tokens: 21,
  context_window_tokens: 131_072,
  long_completion_threshold_tokens: 500,
  parameters: '70B',
  owned_by: 'Somebody',
  created_at: 1_700_000_000n,
  retires_at: null,
} as unknown as ModelRow;
const unhosted = { ...costly, id: 'unhosted-1b', address: 'of the other one' };
const packagesFolder = mkdtempSync(join(tmpdir(), 'svc-tarballs-'));
let app: Awaited<ReturnType<typeof serveApp>>;

beforeAll(async () => {
  writeFileSync(join(packagesFolder, 'index.json'), '[]');
  app = await serveApp({
    packagesFolder,
    database: { query: async () => ({ rows: [{ credit_mint: MINT }] }) } as unknown as Database,
    nowSeconds: () => NOW_SECONDS,
    catalog: {
      medianLatencies: async () => new Map([['costly-70b', 310]]),
      list: () => [costly, unhosted],
    } as unknown as Catalog,
    cards: new Map(),
    directory: {
      active: (address: string) => (address === costly.address ? [{}, {}] : []),
      startProbeMs: () => undefined,
    } as unknown as WorkerDirectory,
  });
});

afterAll(async () => {
  await app?.close();
  rmSync(packagesFolder, { recursive: true });
});

async function read(path: string): Promise<{ text: string; headers: Headers; status: number }> {
  const response = await fetch(`${app.url}${path}`);
  return { text: await response.text(), headers: response.headers, status: response.status };
}

const anchorsOf = (text: string) => [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);

describe.each([...paths, '/openapi.json'])('%s', (path) => {
  it('accepts no other method', async () => {
    const response = await fetch(`${app.url}${path}`, { method: 'OPTIONS' });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: 'route_not_found' } });
  });

  it('is sent whole despite If-None-Match', async () => {
    // `fetch` would ask caches on the way for more than this.
    const headers = { 'if-none-match': '*' };
    const { statusCode, body } = await request(`${app.url}${path}`, { headers });
    expect(statusCode).toBe(200);
    expect(await body.text()).not.toBe('');
  });
});

describe.each(paths)('the page %s', (path) => {
  it('is HTML that needs no key [surface.docs]', async () => {
    const { status, headers } = await read(path);

    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
  });

  it('has no script, loads nothing, and its policy allows only its one style [surface.docs]', async () => {
    const { text, headers } = await read(path);
    const [style, ...others] = [...text.matchAll(/<style>(.*?)<\/style>/gs)];
    const hash = createHash('sha256')
      .update(style?.[1] ?? '')
      .digest('base64');

    expect(others).toEqual([]);
    expect(headers.get('content-security-policy')).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
    expect(text).not.toMatch(/<script|<link|<img|<iframe| src=| style=| on\w+=|url\(|@import/);
  });

  it('links only to pages and headings that exist [surface.docs]', async () => {
    const { text } = await read(path);
    const links = [...text.matchAll(/ href="([^"]+)"/g)].map(([, href = '']) => href);
    // The web app is served apart.
    const inside = links.filter((href) => !/^https:|^\/console/.test(href));

    expect(inside.length).toBeGreaterThan(3);
    for (const href of inside) {
      const [page, anchor] = href.split('#');
      const target = await read(page || path);
      expect([href, target.status]).toEqual([href, 200]);
      if (anchor) expect(anchorsOf(target.text)).toContain(anchor);
    }
  });

  it('gives every heading a unique id', async () => {
    const anchors = anchorsOf((await read(path)).text);

    expect(new Set(anchors).size).toBe(anchors.length);
  });
});

describe('the documentation', () => {
  it('begins with the path from a wallet to a receipt, at its own address', async () => {
    const { text } = await read('/docs');
    expect(anchorsOf(text).filter((anchor) => /^\d/.test(anchor ?? ''))).toEqual([
      ...['1-a-wallet', '2-credits', '3-a-key', '4-the-first-call', '5-the-receipt'],
    ]);
    expect(text).toContain('export BASE_URL=https://api.example.com API_KEY=');
  });

  it('shows the prices of the models that are hosted now', async () => {
    const { text, headers } = await read('/docs/models');
    expect(headers.get('cache-control')).toBe('public, max-age=10');
    expect(text).toMatch(/costly-70b.*<td>43<br><small>0\.43<.*<td>21<.*310 ms/s);
    expect(text).not.toContain('unhosted-1b');
  });

  it('names the step of the prices above the threshold [charging.threshold]', async () => {
    const step = 'A text of 501 tokens costs fewer credits than one of 500:';
    expect((await read('/docs/models')).text).toContain(`<p>${step} 11, not 43, on max.</p>`);
    expect((await read('/docs/reference')).text).toContain(`${step} 3, not 8, on standard.`);
  });

  it('names the mint of the stablecoin beside the prices', async () => {
    expect((await read('/docs/models')).text).toContain(`<code>${MINT}</code>`);
  });

  it.each(paths)('names no command of the operator to customers on the page %s', async (path) => {
    const { text } = await read(path);
    for (const [verb] of VERBS) {
      if (!PUBLISHED.some(([published]) => published === verb)) {
        expect(text).not.toContain(`svc ${verb}`);
      }
    }
    expect(text).not.toMatch(/svc webhooks (?!listen\b|trigger\b)/);
  });

  it('serves the OpenAPI document as JSON', async () => {
    const { text, headers } = await read('/openapi.json');

    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(JSON.parse(text)).toEqual(
      JSON.parse(JSON.stringify(buildDocument('https://api.example.com'))),
    );
  });

  it('shows every endpoint and event of the document', async () => {
    const { text } = await read('/docs/reference');
    const { paths: described, webhooks } = buildDocument('https://api.example.com');

    for (const path of Object.keys(described)) expect(text).toContain(`<code>${path}</code>`);
    for (const kind of Object.keys(webhooks)) expect(text).toContain(`<code>${kind}</code>`);
  });

  it('has an entry for every error code [errors.documented]', async () => {
    const anchors = anchorsOf((await read('/docs/errors')).text);

    expect(anchors).toEqual(Object.keys(errorTable));
  });
});

describe('a value in a page', () => {
  it('is escaped', () => {
    const { text } = html`<p title="${`"'`}">${'<b>&'}</p>`;

    expect(text).toBe('<p title="&#34;&#39;">&#60;b&#62;&#38;</p>');
  });
});

describe('a guide', () => {
  it('links to documents that are served and only names others', () => {
    const text = '## A `b` c\n[one](one.md#part), [two](../two.md), [web](https://example.com)';

    const { body, headings } = renderGuide(text, (name) => (name === 'one.md' ? '/1' : undefined));

    expect(headings).toEqual([{ title: 'A b c', anchor: 'a-b-c' }]);
    expect(body.text).toBe(
      '<h2 id="a-b-c">A <code>b</code> c</h2>\n' +
        '<p><a href="/1#part">one</a>, two, <a href="https://example.com">web</a></p>\n',
    );
  });
});
