import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { findChromium, launchChromium } from '../../../testing/browser.ts';
import {
  LARGE_PIECES,
  largeText,
  type MarkdownStage,
  openMarkdownStage,
} from '../../../testing/console/markdownStage.ts';
import { createRandom } from '../../../testing/random.ts';

const INPUTS = 1_000;
const PIECES_MAX = 24;
/** A browser lays out so many elements and characters without a long task. */
const ELEMENTS_MAX = 3_500;
const TEXT_CHARACTERS_MAX = 20_000;

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

const { seed, below } = createRandom();
const chromium = findChromium(process.env);
const describeIn = chromium ? describe : describe.skip;

describeIn(`what a model writes, in a browser, seed ${seed}`, () => {
  let browser: Browser;
  let stage: MarkdownStage;
  const noticed: string[] = [];
  let readHit: () => Promise<unknown>;

  beforeAll(async () => {
    browser = await launchChromium(chromium);
    const page = await browser.newPage();
    stage = await openMarkdownStage(page);
    readHit = () => page.evaluate('window.hit');
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
    stage?.close();
  });

  it('becomes no element, attribute or request of its own', async () => {
    for (let input = 0; input < INPUTS; input += 1) {
      const count = 1 + below(PIECES_MAX);
      const text = Array.from({ length: count }, () => PIECES[below(PIECES.length)]).join('');
      await stage.draw(text);
      expect({ text, faults: faultsOf(await stage.parts()) }).toEqual({ text, faults: [] });
    }
    expect(await readHit()).toBeUndefined();
    expect(noticed).toEqual([]);
  });

  // `npm run bench -- markdown` measures how long they take.
  it.each(LARGE_PIECES)(
    'becomes few and short elements of a million characters of %j',
    async (piece) => {
      await stage.draw(largeText(piece));
      const parts = await stage.parts();
      expect(faultsOf(parts)).toEqual([]);
      expect(parts.length).toBeLessThanOrEqual(ELEMENTS_MAX);
      expect(Math.max(...(await stage.texts()))).toBeLessThanOrEqual(TEXT_CHARACTERS_MAX);
    },
  );

  it('shows where a link leads, and loads no picture', async () => {
    await stage.draw(
      '[good.example](https://evil.example/a) ![x](https://b.example/c.png) https://d.example/',
    );
    expect(await stage.text()).toBe(
      'good.example (https://evil.example/a) x (https://b.example/c.png) https://d.example/',
    );
    expect(noticed).toEqual([]);
  });
});
