import { Marked, Renderer, type Tokens } from 'marked';
import { Html } from './html.ts';

/** Of a page's second or third level: what its own navigation and the search lead to. */
export interface Heading {
  readonly title: string;
  readonly anchor: string;
  readonly depth: number;
}

/** A page's Markdown as HTML. */
export interface Rendered {
  readonly body: Html;
  readonly headings: readonly Heading[];
}

/** @returns HTML in which headings can be linked to, and what is wide scrolls by itself */
export function renderMarkdown(text: string): Rendered {
  const renderer = new PageRenderer();
  const body = new Html(new Marked().parse(text, { async: false, renderer }));
  return { body, headings: renderer.headings };
}

class PageRenderer extends Renderer {
  readonly headings: Heading[] = [];
  /** How often each name of a heading was given. */
  readonly #given = new Map<string, number>();

  override heading(token: Tokens.Heading): string {
    const { tokens, depth } = token;
    if (depth === 1) return super.heading(token);
    const title = this.parser.parseInline(tokens, this.parser.textRenderer);
    const name = anchorOf(title);
    const before = this.#given.get(name) ?? 0;
    this.#given.set(name, before + 1);
    const anchor = before > 0 ? `${name}-${before}` : name;
    if (depth <= 3) this.headings.push({ title, anchor, depth });
    return `<h${depth} id="${anchor}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
  }

  // Both may scroll, and a keyboard has to reach what does.
  override table(token: Tokens.Table): string {
    return `<div class="table" tabindex="0">${super.table(token)}</div>\n`;
  }

  override tablecell(token: Tokens.TableCell): string {
    // A heading without words would be read aloud as one.
    return token.header && token.text === '' ? '<td></td>\n' : super.tablecell(token);
  }

  override code(token: Tokens.Code): string {
    return super.code(token).replace('<pre>', '<pre tabindex="0">');
  }
}

/** The name of a heading in its address, as GitHub makes it, so that links hold in both places. */
function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** Code of both kinds, in which nothing is a link, or a link with its label and target. */
const CODE_OR_LINK = /```.*?```|`[^`\n]*`|\[((?:`[^`\n]*`|[^\][`])*)\]\(([^)\s]+)\)/gs;

/**
 * Has the links of a Markdown text lead elsewhere.
 *
 * @param targetOf undefined for what cannot be linked to: only the label stays
 */
export function mapLinks(text: string, targetOf: (target: string) => string | undefined): string {
  return text.replace(CODE_OR_LINK, (whole, label?: string, target?: string) => {
    if (target === undefined) return whole;
    const mapped = targetOf(target);
    return mapped === undefined ? `${label}` : `[${label}](${mapped})`;
  });
}

/** A table in Markdown, whose cells may have several paragraphs of Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(inCell).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function inCell(text: string): string {
  return text
    .trim()
    .replaceAll('|', '\\|')
    .replace(/\n{2,}/g, '<br>')
    .replaceAll('\n', ' ');
}

/** Text as Markdown of a cell that shows it as it is: such as names that the ledger has. */
export function plain(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[!-/:-@[-`{}~]/g, '\\$&');
}

export function fenced(language: string, code: string): string {
  return `\`\`\`${language}\n${code.trimEnd()}\n\`\`\``;
}
