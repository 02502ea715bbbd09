import { readFileSync } from 'node:fs';
import { renderGuide } from './markdown.ts';
import type { Page } from './page.ts';

/** The documents of `docs/` that are for clients, and where they are served. */
const guides = [
  { document: 'webhooks.md', path: '/docs/webhooks', title: 'Receiving webhooks' },
  { document: 'verify-a-job.md', path: '/docs/verify', title: 'Verify a job' },
] as const;

/** The guides as pages. @throws when a document is not there, so that no start hides it */
export function guidePages(): Page[] {
  return guides.map(({ document, path, title }) => {
    const text = readFileSync(new URL(`../../../docs/${document}`, import.meta.url), 'utf8');
    const { body, headings } = renderGuide(text, addressOf);
    return { path, title, body, contents: headings };
  });
}

function addressOf(document: string): string | undefined {
  return guides.find((guide) => guide.document === document)?.path;
}
