import { readFileSync } from 'node:fs';
import { type ErrorCode, errorTable, errorTypeOf } from '../contracts/errorTable.ts';
import { mapLinks } from './markdown.ts';
import type { Page } from './page.ts';

/** GET /docs/errors: where the `docs` link of every error leads, made from the one table. */
export function errorsPage(): Page {
  const codes = Object.keys(errorTable) as ErrorCode[];
  return {
    path: '/docs/errors',
    source: '/docs/errors.md',
    title: 'Errors',
    summary: 'Every error code: its status, what it means, and what to do.',
    text: `# Errors

Every error has the body \`{"error": {"code", "message", "type", "param", "docs", "details"}}\`. All 5xx are safe to retry: a 503 after \`Retry-After\` seconds, the others with growing pauses. A 4xx is not resolved by repeating the same request; 429 and \`idempotency_key_in_use\` say how long to wait.

An error after a lock has \`svc\` beside \`error\`: \`job_id\`, and \`verify_url\` where a browser checks that the credits are back.

${codes.map(describeError).join('\n\n')}
`,
  };
}

function describeError(code: ErrorCode): string {
  const entry = errorTable[code];
  const details = 'details' in entry ? entry.details : [];
  return [
    `## \`${code}\``,
    `Status ${entry.status}, type \`${errorTypeOf(code)}\`.`,
    entry.meaning,
    ...(details.length > 0 ? [`Details: ${details.map((name) => `\`${name}\``).join(', ')}.`] : []),
  ].join('\n\n');
}

/** The documents of `docs/` that are for clients, and where they are served; as Markdown beside it. */
const guides = [
  {
    document: 'getting-started.md',
    path: '/docs',
    source: '/docs/getting-started.md',
    title: 'Getting started',
    summary: 'Wallet, credits, key, first call, receipt; the endpoints, and what is charged.',
  },
  {
    document: 'clients.md',
    path: '/docs/clients',
    title: 'Clients',
    summary: 'Clients of the format that were tried, and what to set in each.',
  },
  {
    document: 'webhooks.md',
    path: '/docs/webhooks',
    title: 'Receiving webhooks',
    summary: 'Events, signatures, retries, rotation of secrets.',
  },
  {
    document: 'verify-a-job.md',
    path: '/docs/verify',
    title: 'Verify a job',
    summary: 'Checking a job and the whole program on the ledger; disputing a charge.',
  },
  {
    document: 'receipt.md',
    path: '/docs/receipt',
    title: 'The receipt, byte by byte',
    summary: 'What a verifier of your own computes: every byte, rule and table of it.',
  },
] as const;

/** Links to other files lead to these addresses of the service. */
const SERVED: Readonly<Record<string, string>> = {
  'console.md': '/console',
  'packages.md': '/packages/',
  '../README.md': '/docs/models',
  '../receipts/python/svc_verify.py': '/receipts/svc_verify.py',
  '../receipts/vectors.json': '/receipts/vectors.json',
};

/** What the texts name of this service. */
export interface Deployment {
  readonly publicUrl: string;
  /** A node of the ledger that anybody may ask, as an option of `svc verify`. */
  readonly nodeOption: string;
}

/** In the documents; served, they name the service itself. */
const EXAMPLE_URL = 'https://api.example.com';
const EXAMPLE_NODE = '--rpc https://rpc.example.com';

/** The guides as pages. @throws when a document is not there, so that no start hides it */
export function guidePages(deployment: Deployment): Page[] {
  return guides.map(({ document, ...page }) => ({
    source: `${page.path}.md`,
    ...page,
    text: mapLinks(readGuide(document, deployment), servedAt),
  }));
}

/** A document of `docs/`, with this service in place of the example. */
function readGuide(document: string, { publicUrl, nodeOption }: Deployment): string {
  return readFileSync(new URL(`../../docs/${document}`, import.meta.url), 'utf8')
    .replaceAll(EXAMPLE_URL, publicUrl)
    .replaceAll(EXAMPLE_NODE, nodeOption);
}

/** To a document that is not served no link is made. */
function servedAt(target: string): string | undefined {
  if (/^(https?:|#)/.test(target)) return target;
  const [document = '', anchor] = target.split('#');
  const guide = guides.find((each) => each.document === document);
  const path = guide?.path ?? SERVED[document];
  return path && anchor ? `${path}#${anchor}` : path;
}

/**
 * /llms.txt in the form of llmstxt.org: what an agent needs for a key, a call and its verification, and
 * all pages as Markdown.
 *
 * @throws when `docs/llms.md` is not there, so that no start hides it
 */
export function llmsText(pages: readonly Page[], deployment: Deployment): string {
  const { publicUrl } = deployment;
  const items = pages.map(
    ({ title, source, summary }) => `- [${title}](${publicUrl}${source}): ${summary}`,
  );
  return `${readGuide('llms.md', deployment)}
## Pages

${items.join('\n')}

## Data

- [OpenAPI document](${publicUrl}/openapi.json): every endpoint, event and error, for programs.
- [All pages in one text](${publicUrl}/llms-full.txt): this text, and the pages above behind it.
`;
}

/** /llms-full.txt: the same with the text of each page. What changes by the minute is linked to. */
export function llmsFullText(pages: readonly Page[], deployment: Deployment): string {
  const { publicUrl } = deployment;
  const texts = pages.map(({ text, source, live }) => {
    const absolute = mapLinks(toMarkdownForm(text, pages), (target) => {
      if (target.startsWith('#')) return `${publicUrl}${source}${target}`;
      return target.startsWith('/') ? `${publicUrl}${target}` : target;
    });
    return live ? `${absolute}\nAs it is now: ${publicUrl}${source}\n` : absolute;
  });
  return [llmsText(pages, deployment), ...texts].join('\n---\n\n');
}

/** A page's Markdown with links to the other pages as Markdown. */
export function toMarkdownForm(text: string, pages: readonly Page[]): string {
  return mapLinks(text, (target) => {
    const [path, anchor] = target.split('#');
    const page = path && pages.find((each) => each.path === path);
    if (!page) return target;
    return anchor === undefined ? page.source : `${page.source}#${anchor}`;
  });
}
