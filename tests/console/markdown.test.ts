import { describe, expect, it } from '@jest/globals';
import { type Block, parseMarkdown } from '../../console/markdown/blocks.ts';
import { type Inline, parseInline } from '../../console/markdown/inline.ts';

/** A block in one line, as HTML would have it. */
function show(block: Block): string {
  switch (block.kind) {
    case 'paragraph':
      return `<p>${showInline(block.text)}</p>`;
    case 'heading':
      return `<h${block.level}>${showInline(block.text)}</h${block.level}>`;
    case 'code':
      return `<pre ${block.language}>${block.code}</pre>`;
    case 'quote':
      return `<quote>${block.blocks.map(show).join('')}</quote>`;
    case 'list': {
      const items = block.items.map((item) => `<li>${item.map(show).join('')}</li>`).join('');
      return `<list ${block.start ?? '-'}>${items}</list>`;
    }
    case 'table':
      return `<table>${[block.head, ...block.rows].map((row) => row.map(showInline).join('|')).join('/')}</table>`;
    case 'rule':
      return '<hr>';
    case 'plain':
      return `<plain>${block.text}</plain>`;
  }
}

const TAGS = { strong: 'b', emphasis: 'i', struck: 's' } as const;

function showInline(parts: readonly Inline[]): string {
  const texts = parts.map((part) => {
    if (typeof part === 'string') return part;
    if (part.kind === 'code') return `<code>${part.text}</code>`;
    if (part.kind === 'link') return `<a ${part.address}>${showInline(part.children)}</a>`;
    return `<${TAGS[part.kind]}>${showInline(part.children)}</${TAGS[part.kind]}>`;
  });
  return texts.join('');
}

const shown = (text: string) => parseMarkdown(text).map(show).join('');

describe('the Markdown of an answer', () => {
  it.each([
    ['a\nb\n\n\nc', '<p>a\nb</p><p>c</p>'],
    ['# One\n###### Six ##\n####### no', '<h1>One</h1><h6>Six</h6><p>####### no</p>'],
    ['#no\n# ', '<p>#no</p><h1></h1>'],
    ['***\n* * *\n---\n--', '<hr><hr><hr><p>--</p>'],
    ['> a\n> > b\n>c\n\nd', '<quote><p>a</p><quote><p>b</p></quote><p>c</p></quote><p>d</p>'],
    ['```ts\nlet *a*;\n\n# b\n```\nc', '<pre ts>let *a*;\n\n# b</pre><p>c</p>'],
    ['~~~\n```\n~~~~', '<pre >```</pre>'],
    ['a\n```\nstill comes', '<p>a</p><pre >still comes</pre>'],
    ['```a`b', '<p>```a`b</p>'],
    [
      '- a\n- b\n\n  c\n- d',
      '<list -><li><p>a</p></li><li><p>b</p><p>c</p></li><li><p>d</p></li></list>',
    ],
    [
      '1. a\n  - b\n    goes on\n2. c',
      '<list 1><li><p>a</p><list -><li><p>b\ngoes on</p></li></list></li><li><p>c</p></li></list>',
    ],
    ['3) a\nlazy\n4) b', '<list 3><li><p>a\nlazy</p></li><li><p>b</p></li></list>'],
    ['- a\n* b', '<list -><li><p>a</p></li></list><list -><li><p>b</p></li></list>'],
    ['- a\n\nb', '<list -><li><p>a</p></li></list><p>b</p>'],
    ['1. ```\n   a\n   ```', '<list 1><li><pre >a</pre></li></list>'],
    ['it was in\n1999. A year', '<p>it was in\n1999. A year</p>'],
    ['|a|b \\| c|\n|:-|-:|\n|1|\n|2|3|4|\n\nx', '<table>a|b | c/1|/2|3</table><p>x</p>'],
    ['a | b\n--|--\n*1* | `2`', '<table>a|b/<i>1</i>|<code>2</code></table>'],
    ['a | b\n---\nc', '<p>a | b</p><hr><p>c</p>'],
    ['<b>x</b>\n&amp;', '<p><b>x</b>\n&amp;</p>'],
    ['a\r\nb\r\n\r\nc', '<p>a\nb</p><p>c</p>'],
    ['', ''],
  ])('is read in blocks: %j', (text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  it.each([
    ['**a** *b* __c__ _d_ ~~e~~', '<b>a</b> <i>b</i> <b>c</b> <i>d</i> <s>e</s>'],
    ['***a*** **b *c* d** *e **f** g*', '<i><b>a</b></i> <b>b <i>c</i> d</b> <i>e <b>f</b> g</i>'],
    ['a_b_c 2 * 3 * 4 ~a~ ****b****', 'a_b_c 2 * 3 * 4 ~a~ ****b****'],
    ['*a', '*a'],
    ['**a*', '**a*'],
    ['`a*b*` ``c`d`` ` `` `e', '<code>a*b*</code> <code>c`d</code> <code>``</code>e'],
    ['\\*a\\* \\\\ \\q', '*a* \\ \\q'],
    [
      '[a](https://b.c/d_(e)) [f](<http://g.h> "i")',
      '<a https://b.c/d_(e)>a</a> <a http://g.h/>f</a>',
    ],
    ['[*a* [b](https://c.d)](https://e.f)', '<a https://e.f/><i>a</i> b</a>'],
    [
      'see https://a.b/c. (http://d.e)',
      'see <a https://a.b/c>https://a.b/c</a>. (<a http://d.e/>http://d.e</a>)',
    ],
    ['<https://a.b/?c=d&e>', '<a https://a.b/?c=d&e>https://a.b/?c=d&e</a>'],
    [
      '[https://good.example](https://evil.example)',
      '<a https://evil.example/>https://good.example</a>',
    ],
    ['![a](https://b.c/d.png)', '<a https://b.c/d.png>a</a>'],
    ['[a] [b](https://c.d)', '[a] <a https://c.d/>b</a>'],
    ['[](https://a.b)', '<a https://a.b/></a>'],
    ['https://пример.рф/а', '<a https://xn--e1afmkfd.xn--p1ai/%D0%B0>https://пример.рф/а</a>'],
  ])('is read in marks and links: %j', (text, expected) => {
    expect(showInline(parseInline(text))).toBe(expected);
  });

  it.each([
    '[a](javascript:alert(1))',
    '[a](JaVaScRiPt:alert(1))',
    '[a](data:text/html,x)',
    '[a](vbscript:x)',
    '[a](//evil.example)',
    '[a](/console/credits)',
    '[a](mailto:a@b.c)',
    '[a](https://)',
    '[a](https://good.example@evil.example/)',
    '<javascript:alert(1)>',
  ])('makes no link of %j', (text) => {
    expect(parseInline(text)).toEqual([text]);
  });

  it('shows what is too much as it came', () => {
    const ends = (text: string) => {
      const blocks = parseMarkdown(text);
      return [blocks.length, blocks.at(-1)];
    };
    expect(ends('a\n\n'.repeat(1_001))).toEqual([1_001, { kind: 'plain', text: 'a\n\n' }]);
    expect(shown(`${'>'.repeat(9)}a`)).toBe(
      `${'<quote>'.repeat(8)}<p>>a</p>${'</quote>'.repeat(8)}`,
    );
    const long = `*a*${'b'.repeat(20_000)}`;
    expect(shown(`${long}\n\n*c*`)).toBe(`<plain>${long}</plain><p><i>c</i></p>`);
    const row = `${'d'.repeat(1_000)}\n\n`;
    const [, rest] = ends(row.repeat(51));
    expect(rest).toEqual({ kind: 'plain', text: row.repeat(2) });
    const stars = '*'.repeat(1_000_000);
    expect(ends(stars)).toEqual([1, { kind: 'plain', text: stars }]);
  });

  it('keeps the newest marks where too many are open', () => {
    expect(showInline(parseInline(`${'*a [b '.repeat(9)}**c**`))).toBe(
      `${'*a [b '.repeat(9)}<b>c</b>`,
    );
  });
});
