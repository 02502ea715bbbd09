import { type Inline, parseInline } from './inline.ts';

/** A part of a text that stands by itself. */
export type Block =
  | { readonly kind: 'paragraph'; readonly text: readonly Inline[] }
  | { readonly kind: 'heading'; readonly level: number; readonly text: readonly Inline[] }
  | { readonly kind: 'code'; readonly language: string; readonly code: string }
  | { readonly kind: 'quote'; readonly blocks: readonly Block[] }
  | {
      readonly kind: 'list';
      /** The first number; undefined without numbers. */
      readonly start: number | undefined;
      readonly items: readonly (readonly Block[])[];
    }
  | {
      readonly kind: 'table';
      readonly head: readonly Cell[];
      readonly rows: readonly (readonly Cell[])[];
    }
  | { readonly kind: 'rule' }
  /** As it came, without any marks read. */
  | { readonly kind: 'plain'; readonly text: string };

type Cell = readonly Inline[];

/** What comes behind so many characters is shown as it came. */
const TEXT_CHARACTERS_MAX = 50_000;
/** A longer block is shown as it came: a browser would take too long for it at once. */
const BLOCK_CHARACTERS_MAX = 20_000;
/** What comes behind so many elements is shown as it came. */
const ELEMENTS_MAX = 2_000;
/** Its frame, its language and the button that copies it. */
const CODE_ELEMENTS = 8;
/** Quotes and lists within each other; deeper ones are paragraphs. */
const DEPTH_MAX = 8;

/**
 * Reads the Markdown that models write: paragraphs, headings, lists, quotes, code, tables and rules.
 * There is no HTML in it: tags are text. The time and the elements are bounded for every text.
 */
export function parseMarkdown(text: string): Block[] {
  const isLong = text.length > TEXT_CHARACTERS_MAX;
  const cut = isLong ? text.lastIndexOf('\n', TEXT_CHARACTERS_MAX) + 1 : text.length;
  const lines = text.slice(0, cut).split(/\r?\n/);
  const rest = text.slice(cut);
  const blocks: Block[] = [];
  let elements = 0;
  for (const { at, end, read } of blocksIn(lines, 0)) {
    const size = lines.slice(at, end).reduce((sum, line) => sum + line.length + 1, 0);
    const block = size > BLOCK_CHARACTERS_MAX ? plain(lines.slice(at, end)) : read();
    elements += elementsOf(block);
    if (elements > ELEMENTS_MAX) return [...blocks, plain(lines.slice(at), rest)];
    blocks.push(block);
  }
  return isLong ? [...blocks, plain([], rest)] : blocks;
}

const plain = (lines: readonly string[], rest = ''): Block => ({
  kind: 'plain',
  text: lines.join('\n') + rest,
});

function elementsOf(part: Block | Inline): number {
  if (typeof part === 'string') return 1;
  const count = (parts: readonly (Block | Inline)[]): number =>
    parts.reduce((sum: number, inner) => sum + elementsOf(inner), 1);
  switch (part.kind) {
    case 'paragraph':
    case 'heading':
      return count(part.text);
    case 'quote':
      return count(part.blocks);
    case 'list':
      return part.items.reduce((sum, item) => sum + count(item), 1);
    case 'table':
      return [part.head, ...part.rows].flat().reduce((sum, cell) => sum + count(cell), 1);
    case 'code':
      return CODE_ELEMENTS;
    case 'rule':
    case 'plain':
      return 1;
    default:
      return count(part.children);
  }
}

/** The blocks of a quote or an item. */
const readBlocks = (lines: readonly string[], depth: number): Block[] =>
  Array.from(blocksIn(lines, depth), ({ read }) => read());

const isBlank = (line: string | undefined) => line === undefined || line.trim() === '';

/** Each block with the line at which it begins. */
function* blocksIn(lines: readonly string[], depth: number): Generator<Found & { at: number }> {
  for (let at = 0; at < lines.length; ) {
    if (isBlank(lines[at])) {
      at += 1;
      continue;
    }
    const found = findBlock(lines, at, depth);
    yield { at, ...found };
    at = found.end;
  }
}

/** Where a block ends, and how to read it. */
interface Found {
  /** The line behind it. */
  readonly end: number;
  readonly read: () => Block;
}

function findBlock(lines: readonly string[], at: number, depth: number): Found {
  const line = lines[at] ?? '';
  return (
    findCode(lines, at) ??
    findHeading(line, at) ??
    findRule(line, at) ??
    (depth < DEPTH_MAX ? (findQuote(lines, at, depth) ?? findList(lines, at, depth)) : undefined) ??
    findTable(lines, at) ??
    findParagraph(lines, at, depth)
  );
}

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;

/** Code between fences. While it still comes, it has no second one. */
function findCode(lines: readonly string[], at: number): Found | undefined {
  const [, fence = '', info = ''] = FENCE.exec(lines[at] ?? '') ?? [];
  if (fence === '' || (fence.startsWith('`') && info.includes('`'))) return undefined;
  const isClose = (line: string) => {
    const close = line.trim();
    return close.startsWith(fence) && close === fence.charAt(0).repeat(close.length);
  };
  let close = at + 1;
  while (close < lines.length && !isClose(lines[close] ?? '')) close += 1;
  const code = () => lines.slice(at + 1, close).join('\n');
  const language = info.trim().split(/\s/, 1)[0] ?? '';
  return { end: close + 1, read: () => ({ kind: 'code', language, code: code() }) };
}

function findHeading(line: string, at: number): Found | undefined {
  const [, marks] = /^ {0,3}(#{1,6})(?:\s|$)/.exec(line) ?? [];
  if (marks === undefined) return undefined;
  const text = line
    .trim()
    .slice(marks.length)
    .replace(/(?<=\s)#+$/, '');
  const level = marks.length;
  return { end: at + 1, read: () => ({ kind: 'heading', level, text: parseInline(text.trim()) }) };
}

const RULE_CHARACTERS_MAX = 200;

function findRule(line: string, at: number): Found | undefined {
  const isRule =
    line.length <= RULE_CHARACTERS_MAX && /^([-*_])\1{2,}$/.test(line.replaceAll(/\s/g, ''));
  return isRule ? { end: at + 1, read: () => ({ kind: 'rule' }) } : undefined;
}

const QUOTE = /^ {0,3}> ?/;

function findQuote(lines: readonly string[], at: number, depth: number): Found | undefined {
  let end = at;
  while (QUOTE.test(lines[end] ?? '')) end += 1;
  if (end === at) return undefined;
  const inner = () => lines.slice(at, end).map((line) => line.replace(QUOTE, ''));
  return { end, read: () => ({ kind: 'quote', blocks: readBlocks(inner(), depth + 1) }) };
}

const ITEM = /^( *)(?:([-*+])|(\d{1,9})[.)])(?: +|$)/;
/** Models indent what belongs to an item by two spaces, also behind a number. */
const ITEM_INDENT = 2;

/** Items one behind the other, with what is indented beneath each. */
function findList(lines: readonly string[], at: number, depth: number): Found | undefined {
  const first = ITEM.exec(lines[at] ?? '');
  if (first === null || (first[1] ?? '').length > 3) return undefined;
  const [, margin = '', bullet] = first;
  const inner = margin.length + ITEM_INDENT;
  const isItem = (line: string) => {
    const found = ITEM.exec(line);
    return found !== null && (found[1] ?? '').length < inner && found[2] === bullet;
  };
  const starts: number[] = [];
  let end = at;
  for (let next = at; next < lines.length; next += 1) {
    const line = lines[next] ?? '';
    if (isBlank(line)) continue;
    if (indentOf(line) < inner) {
      if (isItem(line) && findRule(line, next) === undefined) starts.push(next);
      // A line that goes on with the item's text.
      else if (end !== next || startsBlock(lines, next, depth)) break;
    }
    end = next + 1;
  }
  const read = (): Block => ({
    kind: 'list',
    start: bullet === undefined ? Number(first[3]) : undefined,
    items: starts.map((start, index) =>
      readBlocks(itemLines(lines.slice(start, starts[index + 1] ?? end)), depth + 1),
    ),
  });
  return { end, read };
}

const indentOf = (line: string) => line.length - line.trimStart().length;

/** The lines of an item without its mark and margin. */
function itemLines([first = '', ...rest]: readonly string[]): string[] {
  const width = ITEM.exec(first)?.[0].length ?? 0;
  return [first.slice(width), ...rest.map((line) => line.slice(Math.min(width, indentOf(line))))];
}

const DELIMITER = /^:?-+:?$/;

function findTable(lines: readonly string[], at: number): Found | undefined {
  const [line = '', next = ''] = [lines[at], lines[at + 1]];
  if (!line.includes('|') || !/^[\s|:-]+$/.test(next)) return undefined;
  const head = cellsOf(line);
  const delimiters = cellsOf(next);
  if (delimiters.length !== head.length || !delimiters.every((cell) => DELIMITER.test(cell))) {
    return undefined;
  }
  let end = at + 2;
  while (!isBlank(lines[end]) && lines[end]?.includes('|')) end += 1;
  const read = (): Block => ({
    kind: 'table',
    head: head.map(parseInline),
    rows: lines.slice(at + 2, end).map((row) => {
      const cells = cellsOf(row);
      return head.map((_, column) => parseInline(cells[column] ?? ''));
    }),
  });
  return { end, read };
}

function cellsOf(row: string): string[] {
  const line = row.trim();
  const inner = line.slice(
    line.startsWith('|') ? 1 : 0,
    /(?<!\\)\|$/.test(line) ? -1 : line.length,
  );
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}

function findParagraph(lines: readonly string[], at: number, depth: number): Found {
  let end = at + 1;
  while (!isBlank(lines[end]) && !startsBlock(lines, end, depth)) end += 1;
  const text = () =>
    lines
      .slice(at, end)
      .map((line) => line.trim())
      .join('\n');
  return { end, read: () => ({ kind: 'paragraph', text: parseInline(text()) }) };
}

/** Whether a line ends the paragraph before it. A number does so only as the first of a list. */
function startsBlock(lines: readonly string[], at: number, depth: number): boolean {
  const line = lines[at] ?? '';
  const [, margin = '', bullet, number] = ITEM.exec(line) ?? [];
  const isList = margin.length <= 3 && (bullet !== undefined || Number(number) === 1);
  return (
    (depth < DEPTH_MAX && (QUOTE.test(line) || isList)) ||
    findCode([line], 0) !== undefined ||
    findHeading(line, at) !== undefined ||
    findRule(line, at) !== undefined ||
    findTable(lines, at) !== undefined
  );
}
