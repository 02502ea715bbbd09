import { beforeAll, describe, expect, it } from '@jest/globals';
import { loadForNode } from '../../testing/console/loadForNode.ts';
import { createRandom } from '../../testing/random.ts';

/** What the longest texts repeat. */
const LARGE_PIECES = [
  ...['*', '_ ', '`', '[', '](', '> ', '>', '- ', '- a\n', '1. a\n', 'a\n\n', '*a* ', '# a\n'],
  ...['|', '|a|b|\n|-|-|\n', '```\n', 'a', 'a ', '\n', '[a](https://b.example) ', '<', '\\'],
  'https://',
];
const LARGE_CHARACTERS = 1_000_000;
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
  ...['https://a.example/`"><img src=x>', '<https://a.example/"onclick="hit=1>'],
  ...['[a]: javascript:b', '&lt;script&gt;', '&#106;avascript:', '\u202eabc', '\u0000', '\ud800'],
  ...['{{7*7}}', '$&', 'word', ' ', '  ', 'https://b.example', '\n---\n', '\t'],
  ...'* ** *** _ __ ~~ ` `` ``` ~~~ [ ] ]( ( ) ![ < | \\'.split(' '),
  ...['\n', '\n\n', '\n> ', '\n- ', '\n1. ', '\n  ', '\n# ', '\n```js\n', '\n|a|b|\n|-|-|\n|'],
];

const PLAIN =
  'p h3 h4 hr strong em s code pre blockquote ul ol li table thead tbody tr th td div span';
/** The attributes that the elements of an answer may have, beside the names of classes. */
const ALLOWED: Readonly<Record<string, readonly RegExp[]>> = {
  ...Object.fromEntries(PLAIN.split(' ').map((name) => [name, []])),
  ol: [/^start="\d{1,9}"$/],
  section: [/^tabindex="0"$/, /^aria-label="/],
  button: [/^type="button"$/],
  bdi: [/^dir="ltr"$/],
  a: [
    /^href="https?:\/\/[\x21\x23-\x26\x28-\x3b\x3d\x3f-\x7e]+"$/,
    /^target="_blank"$/,
    /^rel="noopener noreferrer nofollow"$/,
  ],
};

const TAG = /<\/?([a-z\d]+)((?: [a-z-]+="[^"]*")*)\/?>/g;
const CHARACTERS: Readonly<Record<string, string>> = {
  ...{ '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#x27;': "'" },
};

/** The texts between the elements. */
const textsOf = (html: string): string[] =>
  html
    .split(new RegExp(TAG.source.replaceAll(/\((?!\?)/g, '(?:'), 'g'))
    .map((text) => text.replaceAll(/&[^;]{2,4};/g, (name) => CHARACTERS[name] ?? name));

/** What a page must not have, of a text that was drawn. */
function faultsOf(html: string): string[] {
  const elements = [...html.matchAll(TAG)].filter(([tag]) => !tag.startsWith('</'));
  const faults = elements.flatMap(([tag, name = '', attributes = '']) => {
    const allowed = ALLOWED[name];
    if (allowed === undefined) return [tag];
    const given = attributes.match(/[a-z-]+="[^"]*"/g) ?? [];
    const foreign = given.filter((one) => ![/^class="/, ...allowed].some((form) => form.test(one)));
    const missing = name === 'a' && given.length !== 3 ? ['a link without its rel'] : [];
    return [...foreign.map((one) => `<${name} ${one}>`), ...missing];
  });
  return html.replaceAll(TAG, '').includes('<') ? [...faults, 'a tag of another form'] : faults;
}

const { seed, below } = createRandom();

describe(`what a model writes, drawn for a page, seed ${seed}`, () => {
  let draw: (text: string) => string;

  beforeAll(async () => {
    ({ draw } = await loadForNode<{ draw: typeof draw }>(`
      import { createElement } from 'react';
      import { renderToStaticMarkup } from 'react-dom/server';
      import { Markdown } from './console/markdown/markdown.tsx';
      export const draw = (text) => renderToStaticMarkup(createElement(Markdown, { text }));
    `));
  });

  it('becomes no element and no attribute of its own', () => {
    for (let input = 0; input < INPUTS; input += 1) {
      const count = 1 + below(PIECES_MAX);
      const text = Array.from({ length: count }, () => PIECES[below(PIECES.length)]).join('');
      expect({ text, faults: faultsOf(draw(text)) }).toEqual({ text, faults: [] });
    }
  });

  it.each(LARGE_PIECES)('becomes few and short elements of a million characters of %j', (piece) => {
    const html = draw(piece.repeat(Math.ceil(LARGE_CHARACTERS / piece.length)));
    expect(faultsOf(html)).toEqual([]);
    expect(html.match(/<[a-z]/g)?.length).toBeLessThanOrEqual(ELEMENTS_MAX);
    expect(Math.max(...textsOf(html).map(({ length }) => length))).toBeLessThanOrEqual(
      TEXT_CHARACTERS_MAX,
    );
  });

  it.each([
    ['a\nb\n\nc', '<p>a\nb</p><p>c</p>'],
    ['# One\n### Two', '<h3>One</h3><h4>Two</h4>'],
    [
      '- a\n  1. **b**',
      '<ul><li><p>a</p><ol start="1"><li><p><strong>b</strong></p></li></ol></li></ul>',
    ],
    ['> ~~a~~\n\n---', '<blockquote><p><s>a</s></p></blockquote><hr/>'],
    ['*a* `b*c*`', '<p><em>a</em><span> </span><code>b*c*</code></p>'],
    ['<b>x</b> &amp;\n[d]: /e', '<p>&lt;b&gt;x&lt;/b&gt; &amp;amp;\n[d]: /e</p>'],
    ['* '.repeat(9), `<p>${'* '.repeat(9)}</p>`],
  ])('is read as Markdown: %j', (text, expected) => {
    expect(draw(text).replace(/^<div[^>]*>|<\/div>$/g, '')).toBe(expected);
  });

  it('draws code and tables, also while they still come', () => {
    expect(textsOf(draw('a\n```ts\nlet *a*;\n\n# b')).join('|')).toContain('let *a*;\n\n# b');
    const table = draw('|a|b \\| c|\n|:-|-:|\n|*1*|\n|2|3|4|');
    expect(table).toContain('<tr><th>a</th><th>b | c</th></tr>');
    expect(table).toContain('<tr><td><em>1</em></td><td></td></tr><tr><td>2</td><td>3</td></tr>');
  });

  it.each([
    '[a](javascript:alert(1))',
    '[a](JaVaScRiPt:alert(1))',
    '[a](javascript&colon;alert(1))',
    '[a](data:text/html,x)',
    '[a](vbscript:x)',
    '[a](//evil.example)',
    '[a](/console/credits)',
    '[a](mailto:a@b.c)',
    'a@b.c',
    '[a](https://)',
    '[a](https://good.example@evil.example/)',
    '<javascript:alert(1)>',
  ])('makes no link of %j', (text) => {
    const html = draw(text);
    expect(html).not.toContain('<a');
    expect(textsOf(html).join('')).toBe(text);
  });

  it('shows where a link leads, and loads no picture', () => {
    const html = draw(
      '[good.example](https://evil.example/a) ![x](https://b.example/c.png) https://d.example/',
    );
    expect(textsOf(html).join('')).toBe(
      'good.example (https://evil.example/a) x (https://b.example/c.png) https://d.example/',
    );
    expect(html).not.toContain('<img');
    // A link within a link would open what the outer one hides.
    expect(draw('[![a](https://b.c)](https://d.e)').match(/<a /g)).toHaveLength(1);
  });

  it('shows what is too much as it came', () => {
    for (const text of [
      `*a* ${'b'.repeat(50_000)}`,
      'a\n\n'.repeat(2_501),
      `${'>'.repeat(9)}*a*`,
    ]) {
      const html = draw(text);
      expect(html).not.toMatch(/<(em|blockquote)>/);
      expect(textsOf(html).join('')).toBe(text);
    }
  });
});
