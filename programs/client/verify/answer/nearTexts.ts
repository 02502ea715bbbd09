/** A way in which programs change a text that they keep or pass on. */
interface Change {
  /** What differs, as part of a sentence. */
  readonly what: string;
  /** The text as it may have been before. */
  undo(text: string): string;
}

const added = (what: string, undo: Change['undo']): Change => ({ what, undo });
const missing = ['\n', ' ', '\n\n', '\r\n'].flatMap((space) => [
  added('white space that is missing at the end', (text) => text + space),
  added('white space that is missing at the start', (text) => space + text),
]);

/** Of each group at most one is undone, in this order. */
const CHANGES: readonly (readonly Change[])[] = [
  [added('a byte order mark', (text) => text.replace(/^\ufeff/, ''))],
  [added('the escapes of JSON', unescaped)],
  [
    added('line ends, CR LF for LF', (text) => text.replaceAll('\r\n', '\n')),
    added('line ends, LF for CR LF', (text) => text.replace(/\r?\n/g, '\r\n')),
    added('line ends, CR for LF', (text) => text.replace(/\r\n?/g, '\n')),
  ],
  [
    added('the Unicode normal form, which was NFC', (text) => normalized(text, 'NFC')),
    added('the Unicode normal form, which was NFD', (text) => normalized(text, 'NFD')),
  ],
  [
    added('a newline at the end', (text) => text.replace(/\r?\n$/, '')),
    added('white space at the end', (text) => text.trimEnd()),
    added('white space at the start', (text) => text.trimStart()),
    added('white space at start and end', (text) => text.trim()),
    ...missing,
  ],
];

/** For longer texts all combinations would take seconds. */
const COMBINED_LENGTH_MAX = 1_024 * 1_024;

/**
 * How texts differ from the proven ones, where it is only what programs change on the way. It is the
 * fewest such changes, each made in all texts.
 *
 * @param isProven whether these texts are the proven ones
 * @returns such as `line ends, CR LF for LF, and a newline at the end`; undefined for any other difference
 */
export function differenceOf(
  given: readonly string[],
  isProven: (texts: readonly string[]) => boolean,
): string | undefined {
  const length = given.reduce((sum, text) => sum + text.length, 0);
  const changesMax = length > COMBINED_LENGTH_MAX ? 1 : CHANGES.length;
  let tried: { texts: readonly string[]; what: string[]; group: number }[] = [
    { texts: given, what: [], group: 0 },
  ];
  for (let count = 0; count < changesMax; count += 1) {
    const next: typeof tried = [];
    for (const { texts, what, group } of tried) {
      for (const [at, changes] of CHANGES.entries()) {
        for (const change of at < group ? [] : changes) {
          const before = texts.map(change.undo);
          if (before.every((text, index) => text === texts[index])) continue;
          const named = [...what, change.what];
          if (isProven(before)) return named.join(', and ');
          next.push({ texts: before, what: named, group: at + 1 });
        }
      }
    }
    tried = next;
  }
  return undefined;
}

/** Marks in a row are sorted in quadratic time: a small file would take minutes. No language has so many. */
const MANY_MARKS = /\p{M}{31}/u;

const normalized = (text: string, form: 'NFC' | 'NFD'): string =>
  MANY_MARKS.test(text) ? text : text.normalize(form);

/** In this mode whole pairs are other characters. */
const HALF = /\p{Surrogate}/u;

/** The text that a string of JSON stands for, with its quotes or without them. */
function unescaped(text: string): string {
  if (!text.includes('\\') && !text.startsWith('"')) return text;
  try {
    const value: unknown = JSON.parse(/^\s*"/.test(text) ? text : `"${text}"`);
    // Half of a character was never in a text that was proven.
    return typeof value === 'string' && !HALF.test(value) ? value : text;
  } catch {
    return text;
  }
}
