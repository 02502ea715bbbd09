import { Marked, Renderer, type Tokens } from 'marked';
import { Html, html } from './html.ts';

/** The name of a heading in its address, as GitHub makes it, so that links hold in both places. */
export function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** A sentence or a few, such as a description in the OpenAPI document. */
export function renderMarkdown(text: string): Html {
  return new Html(new Marked().parse(text, { async: false }));
}

/** The same without a paragraph around it. */
export function renderInline(text: string): Html {
  return new Html(new Marked().parseInline(text, { async: false }));
}

export interface Guide {
  body: Html;
  headings: { title: string; anchor: string }[];
}

/** Where another document is served; undefined for one that is not, to which no link is made. */
type AddressOf = (document: string) => string | undefined;

/** A document of `docs/` as a page. */
export function renderGuide(text: string, addressOf: AddressOf): Guide {
  const renderer = new GuideRenderer(addressOf);
  const body = new Html(new Marked().parse(text, { async: false, renderer }));
  return { body, headings: renderer.headings };
}

class GuideRenderer extends Renderer {
  readonly headings: Guide['headings'] = [];
  readonly #addressOf: AddressOf;

  constructor(addressOf: AddressOf) {
    super();
    this.#addressOf = addressOf;
  }

  override heading({ tokens, depth }: Tokens.Heading): string {
    const title = this.parser.parseInline(tokens, this.parser.textRenderer);
    const anchor = anchorOf(title);
    if (depth === 2) this.headings.push({ title, anchor });
    return `<h${depth} id="${anchor}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
  }

  override link({ href, tokens }: Tokens.Link): string {
    const label = new Html(this.parser.parseInline(tokens));
    const address = servedAt(href, this.#addressOf);
    return address === undefined ? label.text : html`<a href="${address}">${label}</a>`.text;
  }

  override table(token: Tokens.Table): string {
    return `<div class="table">${super.table(token)}</div>`;
  }
}

function servedAt(href: string, addressOf: AddressOf): string | undefined {
  if (/^(https?:|#)/.test(href)) return href;
  const [document = '', anchor] = href.split('#');
  const address = addressOf(document);
  return address && anchor ? `${address}#${anchor}` : address;
}
