import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { find } from './find.ts';
import { Html, html } from './html.ts';
import type { Heading, Rendered } from './markdown.ts';

/** A page of the documentation. Its Markdown is its source: HTML, search and text files come from it. */
export interface Page {
  /** Where it is as HTML. */
  readonly path: string;
  /** Where it is as Markdown. */
  readonly source: string;
  readonly title: string;
  /** What it has, in one sentence. */
  readonly summary: string;
  /** Markdown that begins with the title, and links to other pages by their paths. */
  readonly text: string;
  /** More Markdown behind it, made for each request. */
  readonly live?: () => Promise<string>;
}

/** Where the web app has the files of its two fonts; undefined where it is not built. */
interface Fonts {
  readonly sans: string | undefined;
  readonly mono: string | undefined;
}

/** What a document shows in the frame that all have. */
interface Shown {
  readonly title: string;
  readonly body: Html;
  /** The page that it is; undefined for an answer, such as what was found. */
  readonly page?: Page;
  readonly headings?: readonly Heading[];
  /** What is searched for. */
  readonly query?: string;
}

/** A document, with the headers that it is sent with. */
interface Document {
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Draws the pages of a site, and its answers.
 *
 * @param site.hasApp whether the web app's pages are served, too
 */
export function createFrame(site: { pages: readonly Page[]; fonts: Fonts; hasApp: boolean }) {
  const { pages, fonts, hasApp } = site;
  const style = styleOf(fonts);
  const policy = [
    "default-src 'none'",
    `style-src '${hashOf(style)}'`,
    `script-src '${hashOf(script)}'`,
    "connect-src 'self'",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
  const preloads = Object.values(fonts).flatMap((path) =>
    path === undefined ? [] : `<${path}>; rel=preload; as=font; crossorigin`,
  );

  function drawDocument({ title, body, page, headings = [], query = '' }: Shown): Document {
    const alternate = page && `<${page.source}>; rel="alternate"; type="text/markdown"`;
    const { text } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · svc</title>
<style>${new Html(style)}</style>
<script>${new Html(script)}</script>
</head>
<body>
<a class="skip" href="#main">Skip to the page</a>
${drawTop(query)}
<div class="layout">
<nav id="menu" class="menu" popover aria-label="Documentation">
${hasApp && html`<a href="/console">← Web app</a>\n`}<b>Documentation</b>
${pages.map((other) => linkTo(other, other === page))}<a href="/llms.txt">For agents: llms.txt</a>
${headings.length > 0 && html`<b>On this page</b>\n${headings.map(linkInside)}`}
</nav>
<main id="main" tabindex="-1">
${page && html`<p class="source"><a href="${page.source}">as Markdown</a></p>\n`}${body}
${page && drawNeighbours(page)}
</main>
</div>
</body>
</html>
`;
    const link = [...(alternate ? [alternate] : []), ...preloads].join(', ');
    return { text, headers: { 'content-security-policy': policy, ...(link && { link }) } };
  }

  /** Where the reader was before and goes on to, in the order of the pages. */
  function drawNeighbours(page: Page): Html {
    const place = pages.indexOf(page);
    const before = place > 0 && pages[place - 1];
    const next = pages[place + 1];
    return html`<nav class="neighbours" aria-label="Previous and next">
${before && html`<a rel="prev" href="${before.path}"><small>Previous</small> ${before.title}</a>`}
${next && html`<a rel="next" href="${next.path}"><small>Next</small> ${next.title}</a>`}
</nav>`;
  }

  return {
    /** A page, with what is made for the request behind it. */
    drawPage(page: Page, { body, headings }: Rendered): Document {
      return drawDocument({ title: page.title, body, page, headings });
    },

    /** An answer to something else than a page's address, with links to all pages. */
    drawAnswer({ title, body, query = '' }: { title: string; body: Html; query?: string }) {
      return drawDocument({ title, query, body: html`${body}\n${listPages(pages)}` });
    },
  };
}

export type Frame = ReturnType<typeof createFrame>;

function drawTop(query: string): Html {
  return html`<header>
<a class="brand" href="/"><svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><rect width="16" height="16" rx="3.5" fill="var(--accent-fill)"/><path d="M4.25 8.25 7 11l4.75-6" fill="none" stroke="#fff" stroke-width="1.75"/></svg> svc</a>
<form role="search" action="/docs/search">
<input type="search" name="q" value="${query}" maxlength="100" aria-label="Search the documentation" placeholder="Search (/)" aria-keyshortcuts="/" autocomplete="off">
<p role="status" class="offscreen"></p>
<ol class="found results" hidden></ol>
</form>
<button type="button" popovertarget="menu">Menu</button>
</header>`;
}

function listPages(pages: readonly Page[]): Html {
  return html`<h2>All pages</h2>
<ul class="found">
${pages.map(
  ({ path, title, summary }) =>
    html`<li><a href="${path}">${title}</a><small>${summary}</small></li>\n`,
)}</ul>`;
}

function linkTo({ path, title }: Page, isCurrent: boolean): Html {
  return html`<a href="${path}"${isCurrent && html` aria-current="page"`}>${title}</a>\n`;
}

function linkInside({ title, anchor, depth }: Heading): Html {
  return html`<a href="#${anchor}"${depth > 2 && html` class="inner"`}>${title}</a>\n`;
}

/** A page's Markdown whole. */
export async function textOf({ text, live }: Page): Promise<string> {
  return live ? `${text}\n${await live()}` : text;
}

const readFile = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

/** In every page itself: `find` first, which the page's own script calls. */
const script = `${find}\n${readFile('page.js')}`;

/** The whole look of the pages; in each page itself, so that nothing but the fonts has to be loaded. */
function styleOf({ sans, mono }: Fonts): string {
  const face = (family: string, path: string | undefined) =>
    path === undefined
      ? ''
      : `@font-face { font-family: "${family}"; font-display: swap; font-weight: 100 900; src: url("${path}") format("woff2"); }\n`;
  return [
    readFile('../../common/tokens.css'),
    face('Geist Variable', sans),
    face('Geist Mono Variable', mono),
    readFile('page.css'),
  ].join('\n');
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
