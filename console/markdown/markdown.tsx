import { type ReactNode, useDeferredValue, useMemo } from 'react';
import { CodeBlock } from '../design/code.tsx';
import { joinClasses } from '../design/joinClasses.ts';
import { type Block, parseMarkdown } from './blocks.ts';
import type { Inline } from './inline.ts';
import styles from './markdown.module.css';

/** In a longer text, what is out of sight is not laid out. */
const LONG_CHARACTERS = 10_000;
/** The longest piece of text that a browser lays out at once. */
const PIECE_CHARACTERS_MAX = 4_000;
const PIECE_LINES_MAX = 1_000;

/**
 * What a model wrote, as elements that are made here and no others. A link shows where it leads, and a
 * picture is a link.
 */
export function Markdown({ text }: { readonly text: string }) {
  const shown = useDeferredValue(text);
  const blocks = useMemo(() => parseMarkdown(shown), [shown]);
  return (
    <div className={joinClasses(styles.markdown, shown.length > LONG_CHARACTERS && styles.long)}>
      <Blocks blocks={blocks} />
    </div>
  );
}

function Blocks({ blocks }: { readonly blocks: readonly Block[] }) {
  return blocks.map((block, index) => <BlockView key={index} block={block} />);
}

function BlockView({ block }: { readonly block: Block }): ReactNode {
  switch (block.kind) {
    case 'paragraph':
      return <p>{inlines(block.text)}</p>;
    case 'heading': {
      // Below the headings of the page.
      const Heading = block.level <= 2 ? 'h3' : 'h4';
      return <Heading>{inlines(block.text)}</Heading>;
    }
    case 'code':
      return <CodeBlock language={block.language} code={block.code} />;
    case 'quote':
      return (
        <blockquote>
          <Blocks blocks={block.blocks} />
        </blockquote>
      );
    case 'list':
      return <List {...block} />;
    case 'table':
      return <Table {...block} />;
    case 'rule':
      return <hr />;
    case 'plain':
      return piecesOf(block.text).map((piece, index) => <p key={index}>{piece}</p>);
  }
}

function List({ start, items }: Extract<Block, { kind: 'list' }>) {
  const entries = items.map((blocks, index) => (
    <li key={index}>
      <Blocks blocks={blocks} />
    </li>
  ));
  return start === undefined ? <ul>{entries}</ul> : <ol start={start}>{entries}</ol>;
}

function Table({ head, rows }: Extract<Block, { kind: 'table' }>) {
  const cells = (row: readonly (readonly Inline[])[], Cell: 'th' | 'td') =>
    row.map((cell, index) => <Cell key={index}>{inlines(cell)}</Cell>);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
    <section className="sideways" tabIndex={0} aria-label="Table">
      <table>
        <thead>
          <tr>{cells(head, 'th')}</tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>{cells(row, 'td')}</tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Text as it came, cut between lines or words where that is possible. */
function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const most = text.slice(at, at + PIECE_CHARACTERS_MAX);
    const isLast = at + most.length === text.length;
    const size = endOfLines(most) ?? (isLast ? most.length : endOfWord(most));
    pieces.push(most.slice(0, size));
    at += size;
  }
  return pieces;
}

/** Where too many lines end; undefined where there are fewer. */
function endOfLines(most: string): number | undefined {
  let end = 0;
  for (let line = 0; line < PIECE_LINES_MAX; line += 1) {
    end = most.indexOf('\n', end) + 1;
    if (end === 0) return undefined;
  }
  return end;
}

function endOfWord(most: string): number {
  const between = Math.max(most.lastIndexOf('\n'), most.lastIndexOf(' ')) + 1;
  // Both halves of a character stay together.
  return between || (/[\ud800-\udbff]$/.test(most) ? most.length - 1 : most.length);
}

const ELEMENTS = { strong: 'strong', emphasis: 'em', struck: 's' } as const;

/** A text beside others is an element of its own, as everywhere in these pages. */
function inlines(parts: readonly Inline[]): ReactNode {
  const [only] = parts;
  if (parts.length === 1 && typeof only === 'string') return only;
  return parts.map((part, index) => {
    if (typeof part === 'string') return <span key={index}>{part}</span>;
    if (part.kind === 'code') return <code key={index}>{part.text}</code>;
    if (part.kind === 'link') return <ModelLink key={index} {...part} />;
    const Element = ELEMENTS[part.kind];
    return <Element key={index}>{inlines(part.children)}</Element>;
  });
}

/** It opens beside the page, which keeps the conversation, and does not say where it was. */
function ModelLink({ address, children }: Extract<Inline, { kind: 'link' }>) {
  const isAddress =
    children.length === 1 && (children[0] === address || `${children[0]}/` === address);
  return (
    <>
      <a href={address} target="_blank" rel="noopener noreferrer nofollow">
        {children.length === 0 ? address : inlines(children)}
      </a>
      {!isAddress && children.length > 0 && (
        <bdi dir="ltr" className={styles.address}>
          {` (${address})`}
        </bdi>
      )}
    </>
  );
}
