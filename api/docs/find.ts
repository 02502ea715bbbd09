/** What a heading stands over: what a search finds. */
export interface Section {
  /** Where it is: a page, or a heading on it. */
  readonly path: string;
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}

interface Found extends Section {
  /** The text around the first word that was found. */
  readonly excerpt: string;
}

/**
 * The sections that have every word of a query, those first that have them in their heading. It runs in
 * the pages too, and so refers to nothing outside of itself.
 */
export function find(sections: readonly Section[], query: string): Found[] {
  const words = query.toLowerCase().slice(0, 100).split(/\s+/).filter(Boolean);
  const found = sections.map((section) => {
    const heading = section.heading.toLowerCase();
    const page = section.page.toLowerCase();
    const text = section.text.toLowerCase();
    const scores = words.map((word) => {
      if (heading.includes(word)) return 9;
      if (page.includes(word)) return 3;
      return text.includes(word) ? 1 : 0;
    });
    const at = Math.max(0, ...words.map((word) => text.indexOf(word)).slice(0, 1));
    const begin = at < 60 ? 0 : section.text.indexOf(' ', at - 50) + 1;
    const cut = section.text.slice(begin, begin + 160);
    const excerpt = `${begin > 0 ? '…' : ''}${cut}${begin + 160 < text.length ? '…' : ''}`;
    const score = scores.includes(0) ? 0 : scores.reduce<number>((sum, each) => sum + each, 0);
    return { ...section, excerpt, score };
  });
  return found.filter(({ score }) => score > 0).sort((one, other) => other.score - one.score);
}
