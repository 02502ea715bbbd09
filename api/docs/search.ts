import type { Section } from './find.ts';
import { renderMarkdown } from './markdown.ts';
import type { Page } from './page.ts';

/** The sections of all pages, without their longer code and what is made for each request. */
export function indexPages(pages: readonly Page[]): Section[] {
  return pages.flatMap(({ path, title: page, text }) =>
    renderMarkdown(text)
      .body.text.replace(/<pre.*?<\/pre>/gs, ' ')
      .split(/(?=<h[123][ >])/)
      .flatMap((part) => {
        const [, anchor, heading = ''] = /^<h\d(?: id="(.*?)")?>(.*?)<\/h\d>/.exec(part) ?? [];
        const text = textOf(part.replace(/^<h\d.*?<\/h\d>/, ''));
        const at = anchor === undefined ? path : `${path}#${anchor}`;
        return part.trim() === '' ? [] : { path: at, page, heading: textOf(heading), text };
      }),
  );
}

const SIGNS: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

function textOf(markup: string): string {
  return markup
    .replace(/<\/?(?:code|strong|em|a|span)\b.*?>/g, '')
    .replace(/<.*?>/g, ' ')
    .replace(/&(?:amp|lt|gt|quot|#39);/g, (sign) => SIGNS[sign] ?? sign)
    .replace(/\s+/g, ' ')
    .trim();
}
