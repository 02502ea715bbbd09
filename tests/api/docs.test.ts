import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request } from 'undici';
import { buildDocument } from '../../api/docs/document.ts';
import { html, renderGuide } from '../../api/docs/page.ts';
import { errorTable } from '../../api/http/contracts/errors.ts';
import { serveApp } from './serveApp.ts';

const paths = ['/docs', '/docs/errors', '/docs/webhooks', '/docs/verify'];
let app: Awaited<ReturnType<typeof serveApp>>;

beforeAll(async () => {
  app = await serveApp();
});

afterAll(() => app.close());

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
    const inside = links.filter((href) => !/^https:/.test(href));

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
  it('serves the OpenAPI document as JSON', async () => {
    const { text, headers } = await read('/openapi.json');

    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(JSON.parse(text)).toEqual(
      JSON.parse(JSON.stringify(buildDocument('https://api.example.com'))),
    );
  });

  it('shows every endpoint and event of the document', async () => {
    const { text } = await read('/docs');
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
