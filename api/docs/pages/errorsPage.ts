import { type ErrorCode, errorTable } from '../../contracts/errorTable.ts';
import { type Html, html } from './html.ts';
import { renderInline, renderMarkdown } from './markdown.ts';
import type { Page } from './page.ts';

/** GET /docs/errors: where the `docs` link of every error leads, made from the one table. */
export function errorsPage(): Page {
  const codes = Object.keys(errorTable) as ErrorCode[];
  return {
    path: '/docs/errors',
    title: 'Errors',
    contents: codes.map((code) => ({ title: code, anchor: code })),
    body: html`<h1>Errors</h1>
<p>Every error has the body <code>{"error": {"code", "message", "type", "param", "docs", "details"}}</code>. All 5xx are safe to retry: a 503 after <code>Retry-After</code> seconds, the others with growing pauses. A 4xx is not resolved by repeating the same request; 429 and <code>idempotency_key_in_use</code> say how long to wait.</p>
${codes.map(renderError)}`,
  };
}

function renderError(code: ErrorCode): Html {
  const entry = errorTable[code];
  const details = 'details' in entry ? entry.details : [];
  return html`<h3 id="${code}"><code>${code}</code></h3>
<p class="soft">Status ${entry.status}, type <code>${entry.type}</code>.</p>
${renderMarkdown(entry.meaning)}
${details.length > 0 && html`<p>Details: ${renderInline(details.map((name) => `\`${name}\``).join(', '))}</p>`}
`;
}
