/** A sentence of a document that has more words than one reading takes in. */
export interface LongSentence {
  words: number;
  text: string;
}

export const WORDS_MAX = 25;

/** Sentences of a Markdown text, without its code blocks; a code span counts as its words. */
function sentencesOf(markdown: string): string[] {
  const lines = markdown.replace(/^ *```[\s\S]*?^ *```$/gm, '\n\n').split('\n');
  const units: string[] = [];
  let paragraph: string[] = [];
  const endParagraph = (): void => {
    units.push(paragraph.join(' '));
    paragraph = [];
  };
  for (const line of lines.map((text) => text.trim())) {
    const item = /^(?:[-*]|\d+\.) /.exec(line)?.[0];
    if (line === '' || item !== undefined || /^[#|]/.test(line)) endParagraph();
    if (line.startsWith('|')) units.push(...line.split(/(?<!\\)\|/));
    else paragraph.push(line.slice(item?.length ?? 0));
    if (line.startsWith('#')) endParagraph();
  }
  endParagraph();
  return units.flatMap((unit) =>
    unit
      .replace(/`[^`]*`/g, (code) => code.replace(/[.!?]/g, '·'))
      .replace(/\]\([^)]*\)/g, ']')
      .split(/(?<=[.!?][)"”*_\]]*)\s+/),
  );
}

export function countWords(text: string): number {
  return text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

export function longSentences(markdown: string): LongSentence[] {
  return sentencesOf(markdown)
    .map((text) => ({
      text,
      words: countWords(text),
    }))
    .filter(({ words }) => words > WORDS_MAX);
}
