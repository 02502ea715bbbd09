import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { RequestHandler } from 'express';
import { Marked, Renderer, type Tokens } from 'marked';

/** Text that is HTML already and is not escaped again. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Nothing is shown for undefined and false, so that parts can be left out by `&&`. */
type Value = Html | string | number | readonly Html[] | undefined | false;

/** HTML from a template; every value that is not HTML is escaped. */
export function html(parts: TemplateStringsArray, ...values: Value[]): Html {
  return new Html(parts.reduce((text, part, index) => text + render(values[index - 1]) + part));
}

function render(value: Value): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(({ text }) => text).join('');
  return escapeHtml(String(value));
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

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

interface Guide {
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

/** The whole look of the pages; in each page itself, so that nothing else has to be loaded. */
const style = `
${readFileSync(new URL('../../common/tokens.css', import.meta.url), 'utf8')}
* { box-sizing: border-box; }
html { scroll-padding-top: 1.5rem; }
body {
  margin: 0; background: var(--page); color: var(--text);
  font: 16px/1.6 system-ui, sans-serif;
}
a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: 2px; }
.layout { display: grid; grid-template-columns: 16rem minmax(0, 50rem); gap: 3.5rem; margin: 0 auto; max-width: 74rem; padding: 0 1.5rem; }
nav { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow: auto; padding: 2.5rem 0; font-size: .9rem; }
nav b { display: block; margin: 1.4rem 0 .3rem; }
nav a { display: block; padding: .12rem 0; color: var(--soft); text-decoration: none; overflow-wrap: anywhere; }
nav a.inner { padding-left: .9rem; }
nav a:hover, nav a[aria-current] { color: var(--text); }
main { padding: 2.5rem 0 6rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 1rem; letter-spacing: -.015em; }
h2 { font-size: 1.45rem; line-height: 1.3; margin: 3.5rem 0 .75rem; padding-top: 1.5rem; border-top: 1px solid var(--line); }
h3 { font-size: 1.1rem; margin: 2.5rem 0 .5rem; }
h4 { font-size: .78rem; margin: 1.6rem 0 .4rem; color: var(--soft); text-transform: uppercase; letter-spacing: .06em; }
h3 code { font-size: 1em; background: none; padding: 0; }
code, pre { font-family: ui-monospace, 'SF Mono', Menlo, Consolas, monospace; font-size: .87em; }
code { background: var(--panel); padding: .12em .35em; border-radius: 4px; overflow-wrap: anywhere; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: .9rem 1rem; overflow: auto; line-height: 1.5; }
pre code { background: none; padding: 0; overflow-wrap: normal; font-size: 1em; }
.table { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { text-align: left; vertical-align: top; padding: .5rem .9rem .5rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; }
td:first-child { white-space: nowrap; }
td p { margin: 0; }
td p + p { color: var(--soft); font-size: .93em; }
small, .soft { color: var(--soft); font-size: .85em; }
.method { display: inline-block; min-width: 4.2rem; font-weight: 700; font-size: .8em; letter-spacing: .04em; }
@media (max-width: 60rem) {
  .layout { grid-template-columns: minmax(0, 1fr); gap: 0; }
  nav { position: static; max-height: none; padding: 1.5rem 0 0; columns: 2; }
  td:first-child { white-space: normal; }
}
`;

export interface Heading {
  title: string;
  anchor: string;
  /** Whether it belongs to the one before. */
  isInner?: true;
}

export interface Page {
  path: string;
  title: string;
  body: Html;
  /** What follows the body, made for each request. */
  live?: () => Promise<Html>;
  /** What the page's own part of the navigation leads to. */
  contents: readonly Heading[];
}

const styleHash = createHash('sha256').update(style).digest('base64');

/** Pages have no script, load nothing, and may use this one style. */
const CONTENT_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${styleHash}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Pages that never change while the process runs. */
const LASTING_SECONDS = 300;
const LIVE_SECONDS = 10;

/** Serves a page. @param pages all that link to each other */
export function servePage(page: Page, pages: readonly Page[]): RequestHandler {
  const { live } = page;
  const lasting = live ? undefined : renderPage(page, pages).text;
  const maxAge = live ? LIVE_SECONDS : LASTING_SECONDS;
  return async (_request, response) => {
    const text = lasting ?? renderPage(page, pages, await live?.()).text;
    response
      .set({
        'content-security-policy': CONTENT_POLICY,
        'cache-control': `public, max-age=${maxAge}`,
      })
      .type('html')
      .send(text);
  };
}

function renderPage(page: Page, pages: readonly Page[], live?: Html): Html {
  // As it was hashed: not escaped, and not one space more.
  const css = new Html(style);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${page.title}</title>
<style>${css}</style>
</head>
<body>
<div class="layout">
<nav aria-label="Contents">
<b>Documentation</b>
${pages.map((other) => linkTo(other, page))}
<b>${page.title}</b>
${page.contents.map(linkInside)}
</nav>
<main>
${page.body}
${live}
</main>
</div>
</body>
</html>
`;
}

function linkInside({ title, anchor, isInner }: Heading): Html {
  return html`<a href="#${anchor}"${isInner && html` class="inner"`}>${title}</a>\n`;
}

function linkTo(other: Page, page: Page): Html {
  const current = other === page && html` aria-current="page"`;
  return html`<a href="${other.path}"${current}>${other.title}</a>\n`;
}
