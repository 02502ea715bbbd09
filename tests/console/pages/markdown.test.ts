import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { appPolicy } from '../../../api/console/pages/policy.ts';
import { findChromium, launchChromium } from '../../../testing/browser.ts';
import { createRandom } from '../../../testing/random.ts';

const CHECKOUT = join(import.meta.dirname, '../../..');
const INPUTS = 1_000;
const PIECES_MAX = 24;
const LARGE_CHARACTERS = 1_000_000;
/** From here on a browser calls a task long. */
const LONG_TASK_MS = 50;
/** Another process may have taken the processor: only what is always long counts. */
const ATTEMPTS = 5;

/** What tries to become more than text, and marks that parsers look for again and again. */
const PIECES = [
  ...['<script>window.hit = 1</script>', '<img src=x onerror="hit=1">', '<svg/onload=hit=1>'],
  ...['<a href="javascript:hit=1">a</a>', '<iframe srcdoc="<script>">', '<style>*{}</style>'],
  ...['[a](javascript:hit=1)', '[a](JAVASCRIPT&colon;hit=1)', '[a](java\tscript:hit=1)'],
  ...['[a](data:text/html,<script>)', '[a](\u0001javascript:hit=1)', '<javascript:hit=1>'],
  ...['[a](https://a.example/"onclick="hit=1)', '[a](https://good.example@evil.example)'],
  ...['![a](https://picture.example/a.png)', '![a](data:image/png,a)', '[![a](x)](https://b.c)'],
  ...[
    'https://a.example/`"><img src=x>',
    '<https://a.example/"onclick="hit=1>',
    '[a]: javascript:b',
  ],
  ...['&lt;script&gt;', '&#106;avascript:', '\u202eabc', '\u0000', '\ud800', '{{7*7}}', '$&'],
  ...[
    '*',
    '**',
    '***',
    '_',
    '__',
    '~~',
    '`',
    '``',
    '```',
    '~~~',
    '[',
    ']',
    '](',
    '(',
    ')',
    '![',
    '<',
  ],
  ...[
    '\n',
    '\n\n',
    '\n> ',
    '\n- ',
    '\n1. ',
    '\n  ',
    '\n# ',
    '\n```js\n',
    '\n|a|b|\n|-|-|\n|',
    '|',
    '\\',
  ],
  ...['word', ' ', '  ', 'https://b.example', '\n---\n', '\t'],
];

/** Texts of a million characters. */
const LARGE = [
  '*',
  '_ ',
  '`',
  '[',
  '](',
  '> ',
  '>',
  '- ',
  '- a\n',
  '1. a\n',
  'a\n\n',
  '*a* ',
  '# a\n',
].concat([
  '|',
  '|a|b|\n|-|-|\n',
  '```\n',
  'a',
  'a ',
  '\n',
  '[a](https://b.example) ',
  '<',
  '\\',
  'https://',
]);

/** Draws a text with the app's component, and says what it became. */
const STAGE = `
  import { createElement } from 'react';
  import { flushSync } from 'react-dom';
  import { createRoot } from 'react-dom/client';
  import { Markdown } from './console/markdown/markdown.tsx';
  const place = document.querySelector('main');
  const kept = [];
  window.stage = {
    /** The milliseconds of one task that reads, draws and lays out the text. */
    draw(text) {
      const root = createRoot(place);
      const startedAtMs = performance.now();
      flushSync(() => root.render(createElement(Markdown, { text })));
      place.getBoundingClientRect();
      kept.push(root);
      return performance.now() - startedAtMs;
    },
    /** The longest task until it is seen: what is in sight is laid out with the next frame. */
    async see(text) {
      const observer = new PerformanceObserver(() => {});
      observer.observe({ type: 'longtask' });
      const drawnMs = this.draw(text);
      const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
      for (let frame = 0; frame < 3; frame += 1) await nextFrame();
      const tasks = observer.takeRecords().map(({ duration }) => duration);
      observer.disconnect();
      return Math.max(drawnMs, ...tasks);
    },
    clear: () => kept.splice(0).forEach((root) => root.unmount()),
    parts: () => [...place.querySelectorAll('*')].map((element) => [
      element.localName,
      ...[...element.attributes].map(({ name, value }) => name + '=' + value),
    ]),
    text: () => place.textContent,
  };
`;

/** Every attribute that the elements of an answer have. */
const ALLOWED: Readonly<Record<string, readonly RegExp[]>> = {
  div: [/^class=/],
  p: [],
  h3: [],
  h4: [],
  hr: [],
  span: [/^class=/],
  strong: [],
  em: [],
  s: [],
  code: [],
  pre: [],
  blockquote: [],
  ul: [],
  ol: [/^start=\d{1,9}$/],
  li: [],
  table: [],
  thead: [],
  tbody: [],
  tr: [],
  th: [],
  td: [],
  section: [/^class=/, /^tabindex=0$/, /^aria-label=/],
  button: [/^class=/, /^type=button$/],
  bdi: [/^class=/, /^dir=ltr$/],
  a: [
    /^href=https?:\/\/[\x21\x23-\x26\x28-\x3b\x3d\x3f-\x7e]+$/,
    /^target=_blank$/,
    /^rel=noopener noreferrer nofollow$/,
  ],
};

/** What the page must not have, of the parts of a text that was drawn. */
function faultsOf(parts: readonly (readonly string[])[]): string[] {
  return parts.flatMap(([name = '', ...attributes]) => {
    const allowed = ALLOWED[name];
    if (allowed === undefined) return [`<${name}>`];
    const foreign = attributes.filter((one) => !allowed.some((form) => form.test(one)));
    const missing = name === 'a' && attributes.length !== 3 ? ['a link without its rel'] : [];
    return [...foreign.map((one) => `<${name} ${one}>`), ...missing];
  });
}

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: STAGE, resolveDir: CHECKOUT },
    absWorkingDir: CHECKOUT,
    bundle: true,
    minify: true,
    write: false,
    outdir: '/',
    define: { 'process.env.NODE_ENV': '"production"' },
    ...{ jsx: 'automatic', jsxImportSource: '#console', loader: { '.css': 'local-css' } },
  });
  const script = outputFiles.find(({ path }) => path.endsWith('.js'));
  const styles = outputFiles.find(({ path }) => path.endsWith('.css'));
  if (!script || !styles) throw new Error('esbuild wrote no script or no styles');
  files.set('/stage.css', ['text/css', styles.text]);
  return script.text;
}

/** By path: type and content. */
const files = new Map<string, readonly [string, string]>();

const { seed, below } = createRandom();
const chromium = findChromium(process.env);
const describeIn = chromium ? describe : describe.skip;

describeIn(`what a model writes, in a browser, seed ${seed}`, () => {
  let server: Server;
  let browser: Browser;
  let page: Page;
  const noticed: string[] = [];
  let base: string;

  beforeAll(async () => {
    files.set('/stage.js', ['text/javascript', await bundle()]);
    files.set('/', [
      'text/html',
      '<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="/stage.css">' +
        '<main></main><script src="/stage.js"></script>',
    ]);
    server = createServer(({ url = '' }, response) => {
      const [type, content] = files.get(url) ?? ['text/plain', ''];
      const headers = { 'content-type': type, 'content-security-policy': appPolicy([]) };
      response.writeHead(200, headers).end(content);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await launchChromium(chromium);
    page = await browser.newPage();
    await page.goto(base);
    page.on('request', (request) => noticed.push(request.url()));
    page.on('pageerror', (error) => noticed.push(error.message));
    page.on('console', (message) => noticed.push(message.text()));
    page.on('dialog', (dialog) => {
      noticed.push(dialog.message());
      void dialog.dismiss();
    });
  });

  afterAll(async () => {
    await browser?.close();
    server?.close();
  });

  const stage = <Result>(call: string) => page.evaluate(`stage.${call}`) as Promise<Result>;

  /** Draws a text until no task was long once. @returns the milliseconds of the longest */
  async function draw(text: string, by: 'draw' | 'see' = 'draw'): Promise<number> {
    let least = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < ATTEMPTS && least >= LONG_TASK_MS; attempt += 1) {
      await stage('clear()');
      least = Math.min(least, await stage<number>(`${by}(${JSON.stringify(text)})`));
    }
    return least;
  }

  it('becomes no element, attribute or request of its own, in no long task', async () => {
    for (let input = 0; input < INPUTS; input += 1) {
      const count = 1 + below(PIECES_MAX);
      const text = Array.from({ length: count }, () => PIECES[below(PIECES.length)]).join('');
      const ms = await draw(text);
      const faults = faultsOf(await stage('parts()'));
      const isLong = ms >= LONG_TASK_MS;
      expect({ text, faults, isLong }).toEqual({ text, faults: [], isLong: false });
    }
    expect(await page.evaluate('window.hit')).toBeUndefined();
    expect(noticed).toEqual([]);
  });

  it.each(LARGE)('takes no long task for a million characters of %j', async (piece) => {
    const text = piece.repeat(Math.ceil(LARGE_CHARACTERS / piece.length));
    const ms = await draw(text, 'see');

    expect(faultsOf(await stage('parts()'))).toEqual([]);
    expect(ms).toBeLessThan(LONG_TASK_MS);
  });

  it('shows where a link leads, and loads no picture', async () => {
    await draw(
      '[good.example](https://evil.example/a) ![x](https://b.example/c.png) https://d.example/',
    );

    const text = await stage<string>('text()');
    expect(text).toBe(
      'good.example (https://evil.example/a) x (https://b.example/c.png) https://d.example/',
    );
    expect(noticed).toEqual([]);
  });
});
