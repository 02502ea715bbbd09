import { type Deployment, readGuide } from './guidePages.ts';
import { mapLinks } from './markdown.ts';
import type { Page } from './page.ts';

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
