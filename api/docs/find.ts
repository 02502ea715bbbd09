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
 * The sections that have every word of a query, those first that have them in their heading. Of a query,
 * 100 characters and eight words count. It runs in the pages too, and so refers to nothing outside of
 * itself.
 */
export function find(sections: readonly Section[], query: string): Found[] {
  const words = query.toLowerCase().slice(0, 100).split(/\s+/).filter(Boolean).slice(0, 8);
  const found = sections.flatMap((section) => {
    const heading = section.heading.toLowerCase();
    const page = section.page.toLowerCase();
    const text = section.text.toLowerCase();
    let score = 0;
    for (const word of words) {
      if (heading.includes(word)) score += 9;
      else if (page.includes(word)) score += 3;
      else if (text.includes(word)) score += 1;
      else return [];
    }
    const at = Math.max(0, text.indexOf(words[0] ?? ''));
    const begin = at < 60 ? 0 : section.text.indexOf(' ', at - 50) + 1;
    const cut = section.text.slice(begin, begin + 160);
    const excerpt = `${begin > 0 ? '…' : ''}${cut}${begin + 160 < text.length ? '…' : ''}`;
    return score > 0 ? { ...section, excerpt, score } : [];
  });
  return found.sort((one, other) => other.score - one.score);
}
