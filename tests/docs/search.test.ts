import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { find, type Section } from '../../api/docs/find.ts';
import { headingIdsOf, PAGES, type ServedDocumentation, serveDocumentation } from './servedDocs.ts';

/** As browsers ask for a document. */
const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
const INDEX_BYTES_MAX = 200_000;

let docs: ServedDocumentation;
let index: Section[];

beforeAll(async () => {
  docs = await serveDocumentation();
  index = JSON.parse((await docs.read('/docs/search.json')).text);
});

afterAll(() => docs?.close());

describe('the index of the search', () => {
  it('has every heading of every page, and stays small', async () => {
    for (const [path] of PAGES) {
      const of = index.filter((section) => section.path.split('#')[0] === path);
      const ids = headingIdsOf((await docs.read(path)).text, 3);
      expect(of.map((section) => section.path)).toEqual([
        path,
        ...ids.map((id) => `${path}#${id}`),
      ]);
    }
    expect(JSON.stringify(index).length).toBeLessThan(INDEX_BYTES_MAX);
  });

  it('has text without markup', () => {
    for (const { heading, text } of index) {
      expect(heading).not.toBe('');
      expect(`${heading} ${text}`).not.toMatch(/<\/?(p|td|code|strong)\b|&(amp|lt|gt|quot|#39);/);
    }
  });
});

describe('a search', () => {
  it.each([
    ['idempotency_key_in_use', '/docs/errors#idempotency_key_in_use'],
    ['Disputing', '/docs/verify#disputing-a-charge'],
    ['list jobs', '/docs/reference#list-jobs'],
    ['WALLET', '/docs#1-a-wallet'],
  ])('finds first what has the words in its heading: %s', (query, path) => {
    expect(find(index, query)[0]?.path).toBe(path);
  });

  it('finds only what has every word, with the text around the first', () => {
    const text = `${'before '.repeat(30)}needle ${'after '.repeat(30)}`;
    const section = { path: '/a', page: 'A page', heading: 'One', text };
    const [found] = find([section, { ...section, text: 'other' }], 'needle one');
    expect(found?.excerpt).toMatch(/^…(before )+needle (after )+.*…$/);
    expect(find([section], 'needle absent')).toEqual([]);
    expect(find([section], '  ')).toEqual([]);
  });

  it('counts eight words of a query, and a hundred characters', () => {
    const eight = 'a b c d e f g h';
    const section = {
      path: '/a',
      page: 'A page',
      heading: 'One',
      text: `${eight} ${'z'.repeat(200)}`,
    };
    expect(find([section], `${eight} absent`)).toHaveLength(1);
    expect(find([section], `${'z'.repeat(100)} absent`)).toHaveLength(1);
  });

  it('refers to nothing outside of itself, since it runs in pages', () => {
    const alone = new Function(`return (${find})`)() as typeof find;
    expect(alone(index, 'receipt')).toEqual(find(index, 'receipt'));
  });
});

describe('GET /docs/search', () => {
  it('shows without a script what is found, and keeps the words', async () => {
    const { text } = await docs.read('/docs/search?q=dispute+limit');
    const found = find(index, 'dispute limit');
    expect(found.length).toBeGreaterThan(0);
    for (const { path } of found.slice(0, 50)) expect(text).toContain(`href="${path}"`);
    expect(text).toContain('value="dispute limit"');
  });

  it('repeats no more of a query than counts', async () => {
    const { text } = await docs.read(`/docs/search?q=${'q'.repeat(5_000)}`);
    expect(text).toContain(`value="${'q'.repeat(100)}"`);
  });

  it('escapes what is searched for, and reads a doubled query as one', async () => {
    const { status, text } = await docs.read('/docs/search?q=%3Cb%3E%22&q=b');
    expect(status).toBe(200);
    expect(text).toContain('value="&#60;b&#62;&#34;,b"');
    expect(text).toContain('No section has all of these words.');
  });
});

describe('an address that is none', () => {
  it('is a page for a browser, with search, all pages and the nearest', async () => {
    const { status, headers, text } = await docs.read('/docs/webhoks', BROWSER);
    expect(status).toBe(404);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('vary')).toContain('Accept');
    expect(text).toContain('There is no GET /docs/webhoks.');
    expect(text).toContain('The nearest page is <a href="/docs/webhooks">');
    expect(text).toContain('<form role="search" action="/docs/search">');
    for (const [path] of PAGES) expect(text).toContain(`<a href="${path}">`);
  });

  it('is escaped there, and names no page where none is near', async () => {
    const { text } = await docs.read('/%3Cb%3E/nothing/like/any/page/here', BROWSER);
    expect(text).not.toContain('<b>/');
    expect(text).not.toContain('The nearest page');
  });

  it('names the endpoint that was meant', async () => {
    const { text } = await docs.read('/models', BROWSER);
    expect(text).toContain('Did you mean GET https://api.example.com/v1/models?');
  });

  it.each([
    ['/docs/webhoks', {}],
    ['/docs/webhoks', { accept: 'application/json' }],
    ['/docs/webhoks', { accept: '*/*' }],
    ['/v1/model', BROWSER],
    ['/v2/chat', BROWSER],
    ['/v1', BROWSER],
    ['/health/a', BROWSER],
    ['/console/api/a', BROWSER],
    ['/packages/a', BROWSER],
  ])('is an error for API clients, and below the API: %s %j', async (path, headers) => {
    const { status, text } = await docs.read(path, headers);
    expect(status).toBe(404);
    expect(JSON.parse(text)).toMatchObject({ error: { code: 'route_not_found' } });
  });

  it('is an error for any other method', async () => {
    const response = await fetch(`${docs.url}/docs/a`, { method: 'POST', headers: BROWSER });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: 'route_not_found' } });
  });
});

describe('GET /', () => {
  it('is a page with search and links where there is no web app', async () => {
    const { status, text } = await docs.read('/');
    expect(status).toBe(200);
    expect(text).toContain('Inference that anybody can verify');
    for (const [path] of PAGES) expect(text).toContain(`<a href="${path}">`);
    expect(text).not.toContain('href="/console"');
  });
});
