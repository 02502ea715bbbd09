import { readFileSync } from 'node:fs';
import { type ErrorCode, errorTable } from '../contracts/errorTable.ts';
import { type Html, html, type Page, renderGuide, renderInline, renderMarkdown } from './page.ts';

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

/** The documents of `docs/` that are for clients, and where they are served. */
const guides = [
  { document: 'getting-started.md', path: '/docs', title: 'Getting started' },
  { document: 'clients.md', path: '/docs/clients', title: 'Clients' },
  { document: 'webhooks.md', path: '/docs/webhooks', title: 'Receiving webhooks' },
  { document: 'verify-a-job.md', path: '/docs/verify', title: 'Verify a job' },
] as const;

/** Links to other documents lead to these pages of the service. */
const SERVED: Readonly<Record<string, string>> = {
  'console.md': '/console',
  'packages.md': '/packages/',
  '../README.md': '/docs/models',
};

/** In the guides; served, they name the service itself. */
const EXAMPLE_URL = 'https://api.example.com';

/** The guides as pages. @throws when a document is not there, so that no start hides it */
export function guidePages(publicUrl: string): Page[] {
  return guides.map(({ document, path, title }) => {
    const text = readFileSync(new URL(`../../docs/${document}`, import.meta.url), 'utf8');
    const { body, headings } = renderGuide(text.replaceAll(EXAMPLE_URL, publicUrl), addressOf);
    return { path, title, body, contents: headings };
  });
}

function addressOf(document: string): string | undefined {
  return guides.find((guide) => guide.document === document)?.path ?? SERVED[document];
}
