import type { MarkedToken, Token, Tokens } from 'marked';
import { type ReactNode, useDeferredValue, useMemo } from 'react';
import { CodeBlock } from '../design/code.tsx';
import { joinClasses } from '../design/joinClasses.ts';
import { lexMarkdown, safeAddress } from './lexMarkdown.ts';
import styles from './markdown.module.css';

/** In a longer text, what is out of sight is not laid out. */
const LONG_CHARACTERS = 10_000;
/** A browser lays out so much text at once: cut behind a space, and never within a character. */
const PIECE = /[\s\S]{1,2000}(?!\S)|[\s\S]{1,2000}/gu;

/**
 * What a model wrote, as elements that are made here and no others. A link shows where it leads, and a
 * picture is a link.
 */
export function Markdown({ text }: { text: string }) {
  const shown = useDeferredValue(text);
  const blocks = useMemo(() => lexMarkdown(shown), [shown]);
  return (
    <div className={joinClasses(styles.markdown, shown.length > LONG_CHARACTERS && styles.long)}>
      {blocks
        ? blockViews(blocks)
        : shown.match(PIECE)?.map((piece, index) => <p key={index}>{piece}</p>)}
    </div>
  );
}

const blockViews = (blocks: readonly Token[]): ReactNode =>
  blocks.map((block, index) => <Block key={index} block={block as MarkedToken} />);

function Block({ block }: { block: MarkedToken }): ReactNode {
  switch (block.type) {
    case 'space':
      return null;
    case 'heading': {
      // Below the headings of the page.
      const Heading = block.depth <= 2 ? 'h3' : 'h4';
      return <Heading>{inlines(block.tokens)}</Heading>;
    }
    case 'code':
      return <CodeBlock language={block.lang?.split(/\s/, 1)[0] ?? ''} code={block.text} />;
    case 'blockquote':
      return <blockquote>{blockViews(block.tokens)}</blockquote>;
    case 'list': {
      const items = block.items.map(({ tokens }, index) => (
        <li key={index}>{blockViews(tokens)}</li>
      ));
      return block.ordered ? <ol start={Number(block.start)}>{items}</ol> : <ul>{items}</ul>;
    }
    case 'table':
      return <Table {...block} />;
    case 'hr':
      return <hr />;
    default:
      return <p>{'tokens' in block && block.tokens ? inlines(block.tokens) : block.raw}</p>;
  }
}

function Table({ header, rows }: Tokens.Table) {
  const cells = (row: readonly Tokens.TableCell[], Cell: 'th' | 'td') =>
    row.map(({ tokens }, index) => <Cell key={index}>{inlines(tokens)}</Cell>);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
    <section className="sideways" tabIndex={0} aria-label="Table">
      <table>
        <thead>
          <tr>{cells(header, 'th')}</tr>
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

const ELEMENTS = { strong: 'strong', em: 'em', del: 's' } as const;

/** A text beside others is an element of its own, as everywhere in these pages. */
function inlines(tokens: readonly Token[], isInLink = false): ReactNode {
  return tokens.map((some, index) => {
    const token = some as MarkedToken;
    switch (token.type) {
      case 'strong':
      case 'em':
      case 'del': {
        const Element = ELEMENTS[token.type];
        return <Element key={index}>{inlines(token.tokens, isInLink)}</Element>;
      }
      case 'codespan':
        return <code key={index}>{token.text}</code>;
      case 'link':
      case 'image': {
        const address = isInLink ? undefined : safeAddress(token.href);
        if (address) return <ModelLink key={index} address={address} token={token} />;
        return <span key={index}>{isInLink ? token.text : token.raw}</span>;
      }
      case 'text':
      case 'escape':
        return tokens.length === 1 ? token.text : <span key={index}>{token.text}</span>;
      default:
        return <span key={index}>{token.raw}</span>;
    }
  });
}

/** It opens beside the page, which keeps the conversation, and does not say where it was. */
function ModelLink(link: { readonly address: string; readonly token: Tokens.Link | Tokens.Image }) {
  const { address, token } = link;
  const isAddress = ['', address, address.replace(/\/$/, '')].includes(token.text);
  return (
    <>
      <a href={address} target="_blank" rel="noopener noreferrer nofollow">
        {token.text === '' ? address : inlines(token.tokens, true)}
      </a>
      {!isAddress && (
        <bdi dir="ltr" className={styles.address}>
          {` (${address})`}
        </bdi>
      )}
    </>
  );
}
