import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apiErrorCodes, errorTable } from '../../api/contracts/errorTable.ts';
import { examples } from '../../api/docs/examples.ts';
import { mapLinks } from '../../api/docs/markdown.ts';
import { readSource } from '../tidy/sourceTree.ts';
import { anchorsOf, linksOf } from './documents.ts';
import {
  headingIdsOf,
  PAGES,
  PUBLIC_URL,
  type ServedDocumentation,
  serveDocumentation,
} from './servedDocs.ts';

let docs: ServedDocumentation;

beforeAll(async () => {
  docs = await serveDocumentation();
});

afterAll(() => docs?.close());

/** Links of a text, each with its heading; those of the web app are served apart. */
const targetsIn = (text: string): string[] =>
  [...text.replace(/```.*?```|`[^`\n]*`/gs, '').matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !target.startsWith('/console'));

describe.each(PAGES)('the page %s as Markdown', (path, source) => {
  it('is found by the header and a link of the page', async () => {
    const { headers, text } = await docs.read(path);
    const link = `<${source}>; rel="alternate"; type="text/markdown"`;
    expect(headers.get('link')).toBe(link);
    expect(text).toContain(`<a href="${source}">as Markdown</a>`);
    const { status, headers: its } = await docs.read(source);
    expect([status, its.get('content-type')]).toEqual([200, 'text/markdown; charset=utf-8']);
  });

  it('has the same headings', async () => {
    const { text } = await docs.read(source);
    expect(text).toMatch(/^# \S/);
    const [, ...anchors] = anchorsOf(text.replace(/```.*?```/gs, ''));
    const ids = headingIdsOf((await docs.read(path)).text);
    // The name of a repeated heading ends with its count.
    expect(ids.map((id, index) => (anchors[index] === id ? id : id.replace(/-\d+$/, '')))).toEqual(
      anchors,
    );
  });

  it('links to the others as Markdown, and to headings that exist', async () => {
    const { text } = await docs.read(source);
    for (const target of targetsIn(text).filter((each) => !/^https?:/.test(each))) {
      const [at = '', anchor] = target.split('#');
      const found = await docs.read(at || source);
      expect([target, found.status]).toEqual([target, 200]);
      expect(PAGES.map(([page]) => page)).not.toContain(at);
      if (anchor) expect(anchorsOf(found.text)).toContain(anchor);
    }
  });
});

describe('/llms.txt', () => {
  it('has one title, a summary, and sections of links alone', async () => {
    const { text, headers } = await docs.read('/llms.txt');
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const code = /```.*?```/gs;
    const [first = '', summary = '', ...rest] = text.replace(code, '').split('\n\n');
    expect(first).toMatch(/^# [^\n]+$/);
    expect(summary).toMatch(/^> /);
    const [details = '', ...sections] = rest.join('\n\n').split(/^## /m);
    expect(details).not.toMatch(/^#/m);
    expect(sections.map((section) => section.split('\n')[0])).toEqual(['Pages', 'Data']);
    for (const section of sections) {
      const [, ...lines] = section.trim().split('\n');
      for (const line of lines.filter(Boolean)) expect(line).toMatch(/^- \[.+\]\(https:.+\): .+/);
    }
  });

  it('names every page, by addresses of the service that answer', async () => {
    const { text } = await docs.read('/llms.txt');
    const targets = targetsIn(text);
    expect(targets.slice(0, PAGES.length)).toEqual(
      PAGES.map(([, source]) => `${PUBLIC_URL}${source}`),
    );
    for (const target of targets) {
      expect(target.startsWith(`${PUBLIC_URL}/`)).toBe(true);
      const { status } = await docs.read(target.slice(PUBLIC_URL.length));
      expect([target, status]).toEqual([target, 200]);
    }
  });
});

describe('what /llms.txt says of answers', () => {
  const cells = async () =>
    [...(await docs.read('/llms.txt')).text.matchAll(/^\| (.*?) \|/gm)].map(
      ([, cell = '']) => cell,
    );

  it('names every field of `svc`', async () => {
    const named = (await cells()).join();
    for (const field of Object.keys(examples.ChatCompletion.svc)) {
      expect(named).toContain(`\`${field}\``);
    }
  });

  it('says what to do for every status of an error', async () => {
    const statuses = new Set((await cells()).flatMap((cell) => cell.match(/\b[45]\d\d\b/g) ?? []));
    expect([...statuses].map(Number).sort()).toEqual(
      [...new Set(apiErrorCodes.map((code) => errorTable[code].status))].sort(),
    );
  });

  it('names errors, details and fields that exist', async () => {
    const { text } = await docs.read('/llms.txt');
    const reference = (await docs.read('/docs/reference.md')).text;
    const errors = (await docs.read('/docs/errors.md')).text;
    for (const [, name = ''] of text.matchAll(/`details\.(\w+)`/g)) expect(errors).toContain(name);
    for (const name of ['max_credits', 'x-svc-max-credits', 'Idempotency-Key']) {
      expect(text).toContain(name);
      expect(reference).toContain(`\`${name}\``);
    }
  });
});

describe('/receipts/', () => {
  it.each([
    ['svc_verify.py', 'receipts/python/svc_verify.py'],
    ['vectors.json', 'receipts/vectors.json'],
  ])('has %s as the repository has it', async (name, path) => {
    expect((await docs.read(`/receipts/${name}`)).text).toBe(readSource(path));
  });
});

describe('/llms-full.txt', () => {
  it('has the text of /llms.txt and of each page, with whole addresses', async () => {
    const { text } = await docs.read('/llms-full.txt');
    expect(text.startsWith((await docs.read('/llms.txt')).text)).toBe(true);
    for (const [, source] of PAGES) {
      const { text: page } = await docs.read(source);
      for (const heading of page.replace(/```.*?```/gs, '').match(/^#{1,3} .*$/gm) ?? []) {
        expect(text).toContain(`\n${heading}\n`);
      }
    }
    for (const target of targetsIn(text)) expect(target).toMatch(/^https?:/);
  });

  it('links to what changes by the minute', async () => {
    const { text } = await docs.read('/llms-full.txt');
    for (const page of ['models', 'packages']) {
      expect(text).toContain(`As it is now: ${PUBLIC_URL}/docs/${page}.md`);
    }
  });
});

describe('the links of a text', () => {
  it('lead elsewhere, but not in code, and lose what has no target', () => {
    const text = '[a `b`](one.md#c), [d](two.md), `[e](one.md)`\n```\n[f](one.md)\n```';
    const mapped = mapLinks(text, (target) => (target === 'two.md' ? undefined : `/${target}`));

    expect(mapped).toBe('[a `b`](/one.md#c), d, `[e](one.md)`\n```\n[f](one.md)\n```');
    expect(linksOf({ path: 'a.md', text })).toHaveLength(2);
  });
});
