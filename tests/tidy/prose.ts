import { parseSync, Visitor } from 'vite';

/** What a source file says in words: a comment, a string, or a name that it gives. */
export interface Prose {
  kind: 'comment' | 'string' | 'name';
  /** Of its beginning, from 1. */
  line: number;
  text: string;
}

/** @returns the words of a source file of TypeScript, Rust or SQL, or of a shell script's comments */
export function proseOf(path: string, source: string): Prose[] {
  if (/\.m?[jt]sx?$/.test(path)) return joined(piecesOfTypeScript(path, source), source);
  const pattern = path.endsWith('.rs') ? RUST : path.endsWith('.sql') ? SQL : SHELL;
  return joined(piecesOf(pattern, source), source);
}

const RUST =
  /\/\/[/!]?(?<comment>.*)|"(?<string>(?:\\.|[^"\\])*)"|'(?:\\.|[^'\\])'|(?<name>[A-Za-z_]\w*)/g;
const SQL = /--(?<comment>.*)|'(?<string>[^']*)'|(?<name>[a-z_]\w*)/g;
const SHELL = /(?:^|\s)#(?!!)(?<comment>.*)$/gm;

/** A piece of the source, by its offset. */
interface Piece {
  kind: Prose['kind'];
  index: number;
  text: string;
}

function piecesOf(pattern: RegExp, source: string): Piece[] {
  return [...source.matchAll(pattern)].flatMap(({ index, groups = {} }) =>
    (['comment', 'string', 'name'] as const).flatMap((kind) => {
      const text = groups[kind];
      return text === undefined ? [] : { kind, index, text };
    }),
  );
}

function piecesOfTypeScript(path: string, source: string): Piece[] {
  const { program, comments } = parseSync(path, source);
  const pieces: Piece[] = comments.map(({ value, start }) => ({
    kind: 'comment',
    index: start,
    text: value.replaceAll(/^ *\*/gm, ''),
  }));
  const note = (kind: Prose['kind'], index: number, text: string): void =>
    void pieces.push({ kind, index, text });
  new Visitor({
    Identifier: ({ name, start }) => note('name', start, name),
    JSXText: ({ value, start }) => note('string', start, value),
    Literal: ({ value, start }) => typeof value === 'string' && note('string', start, value),
    TemplateLiteral: ({ quasis, start }) =>
      note('string', start, quasis.map(({ value }) => value.cooked ?? value.raw).join('x')),
  }).visit(program);
  return pieces;
}

/** The pieces with their lines, comments on lines below each other as one. */
function joined(pieces: readonly Piece[], source: string): Prose[] {
  const starts = [0, ...[...source.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const lineAt = (index: number): number => starts.findLastIndex((start) => start <= index) + 1;
  const prose: Prose[] = [];
  let lastLine = Number.NaN;
  for (const { kind, index, text } of pieces) {
    const line = lineAt(index);
    const last = prose.at(-1);
    const isNext = kind === 'comment' && last?.kind === 'comment' && line === lastLine + 1;
    if (isNext) last.text += `\n${text}`;
    else prose.push({ kind, line, text });
    lastLine = line + text.split('\n').length - 1;
  }
  return prose;
}
