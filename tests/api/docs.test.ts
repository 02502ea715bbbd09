import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request } from 'undici';
import { errorTable } from '../../api/contracts/errorTable.ts';
import { buildDocument } from '../../api/docs/document.ts';
import { renderMarkdown } from '../../api/docs/markdown.ts';
import { PUBLISHED } from '../../cli/program.ts';
import { VERBS } from '../../cli/verbs.ts';
import {
  headingIdsOf,
  PAGES,
  PUBLIC_URL,
  type ServedDocumentation,
  serveDocumentation,
} from '../docs/servedDocs.ts';

const paths = PAGES.map(([path]) => path);
const ours = [...PAGES.flat(), '/docs/search', '/docs/search.json', '/llms.txt', '/llms-full.txt'];
let docs: ServedDocumentation;

beforeAll(async () => {
  docs = await serveDocumentation();
});

afterAll(() => docs?.close());

describe.each([...ours, '/openapi.json'])('%s', (path) => {
  it('is sent whole despite If-None-Match', async () => {
    // `fetch` would ask caches on the way for more than this.
    const headers = { 'if-none-match': '*' };
    const { statusCode, body } = await request(`${docs.url}${path}`, { headers });
    expect(statusCode).toBe(200);
    expect(await body.text()).not.toBe('');
  });
});

describe.each([...paths, '/', '/docs/search'])('the page %s', (path) => {
  it('is HTML that needs no key, with each heading under its own id [surface.docs]', async () => {
    const { status, headers, text } = await docs.read(path);

    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    const ids = headingIdsOf(text);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('loads nothing, and its policy allows its one style and script [surface.docs]', async () => {
    const { text, headers } = await docs.read(path);
    const hashOf = (name: string) => {
      const [part, ...others] = [...text.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))];
      expect(others).toEqual([]);
      const hash = createHash('sha256').update(part?.[1] ?? '');
      return `'sha256-${hash.digest('base64')}'`;
    };

    expect(headers.get('content-security-policy')?.split('; ')).toEqual([
      ...["default-src 'none'", `style-src ${hashOf('style')}`, `script-src ${hashOf('script')}`],
      ...["connect-src 'self'", "font-src 'self'", "base-uri 'none'", "form-action 'self'"],
      ...["frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'"],
    ]);
    const markup = text.replace(/<script>.*?<\/script>/s, '');
    expect(markup).not.toMatch(/<script|<link|<img|<iframe| src=| style=| on\w+=|url\(|@import/);
  });

  it('links only to pages and headings that exist [surface.docs]', async () => {
    const { text } = await docs.read(path);
    const links = [...text.matchAll(/ href="([^"]+)"/g)].map(([, href = '']) => href);
    // The web app is served apart, and marked by its bar alone.
    const inside = links.filter((href) => !/^https:|^\/console|^#main/.test(href));

    expect(inside.length).toBeGreaterThan(3);
    for (const href of new Set(inside)) {
      const [page, anchor] = href.split('#');
      const target = await docs.read(page || path);
      expect([href, target.status]).toEqual([href, 200]);
      if (anchor) expect(headingIdsOf(target.text)).toContain(anchor);
    }
  });
});

describe('the documentation', () => {
  it('shows the prices of the models that are hosted now', async () => {
    const { text, headers } = await docs.read('/docs/models');
    expect(headers.get('cache-control')).toBe('public, max-age=10');
    expect(text).toMatch(/costly-70b.*<td>43<br>0\.43<.*<td>21<.*310 ms/s);
    expect(text).not.toContain('unhosted-1b');
  });

  it('shows names that the ledger has as they are', async () => {
    expect((await docs.read('/docs/models')).text).toContain('<br>&lt;b&gt;Some|body*, 70B</td>');
  });

  it('names the step of the prices above the threshold [charging.threshold]', async () => {
    const step = 'A text of 501 tokens costs fewer credits than one of 500:';
    const models = await docs.read('/docs/models');
    expect(models.text).toContain(`<p>${step} 11, not 43, on max.</p>`);
    expect((await docs.read('/docs/reference')).text).toContain(`${step} 3, not 8, on standard.`);
  });

  it.each([...paths, '/llms.txt'])(
    'names no command of the operator to customers on the page %s',
    async (path) => {
      const { text } = await docs.read(path);
      for (const [verb] of VERBS) {
        if (!PUBLISHED.some(([published]) => published === verb)) {
          expect(text).not.toContain(`svc ${verb}`);
        }
      }
      expect(text).not.toMatch(/svc webhooks (?!listen\b|trigger\b)/);
    },
  );

  it('shows every endpoint and event of the document', async () => {
    const { text } = await docs.read('/docs/reference');
    const { paths: described, webhooks } = buildDocument(PUBLIC_URL);

    for (const path of Object.keys(described)) expect(text).toContain(`<code>${path}</code>`);
    for (const kind of Object.keys(webhooks)) expect(text).toContain(`<code>${kind}</code>`);
  });

  it('has an entry for every error code [errors.documented]', async () => {
    const ids = headingIdsOf((await docs.read('/docs/errors')).text);

    expect(ids).toEqual(Object.keys(errorTable));
  });
});

describe('Markdown', () => {
  it('gets headings to link to, and tables and code that a keyboard can scroll', () => {
    const text = '# T\n## A `b` c\n\n| a |\n|---|\n| b |\n\n```sh\nc\n```';
    const { body, headings } = renderMarkdown(text);

    expect(headings).toEqual([{ title: 'A b c', anchor: 'a-b-c', depth: 2 }]);
    expect(renderMarkdown('#### A\n#### A').body.text).toMatch(/id="a">A.*id="a-1">A/s);
    expect(body.text).toMatch(/^<h1>T<\/h1>\n<h2 id="a-b-c">A <code>b<\/code> c<\/h2>\n/);
    expect(body.text).toContain('<div class="table" tabindex="0"><table>');
    expect(body.text).toContain('<pre tabindex="0"><code class="language-sh">c');
  });
});
