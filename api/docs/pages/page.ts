import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';
import { Html, html } from './html.ts';
import { style } from './style.ts';

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

/** Serves pages that never change while the process runs. @param pages all that link to each other */
export function servePage(page: Page, pages: readonly Page[]): RequestHandler {
  const { text } = renderPage(page, pages);
  return (_request, response) => {
    response
      .set({ 'content-security-policy': CONTENT_POLICY, 'cache-control': 'public, max-age=300' })
      .type('html')
      .send(text);
  };
}

function renderPage(page: Page, pages: readonly Page[]): Html {
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
