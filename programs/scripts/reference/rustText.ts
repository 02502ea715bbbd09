/** The closing bracket that belongs to each opening one. */
const CLOSING: Record<string, string> = { '(': ')', '{': '}', '[': ']' };

/** Blanks out comments and what stands in quotes, so that only code is searched. Offsets stay. */
export const maskText = (text: string): string =>
  text.replace(/\/\/.*|b?"(?:\\.|[^"\\])*"|b'(?:\\.|[^'\\])+'/g, (found) =>
    ' '.repeat(found.length),
  );

/** The offset of the bracket that closes the one at `open`. */
export const closeOf = (text: string, open: number): number => {
  const opening = text[open] ?? '';
  const closing = CLOSING[opening];
  let depth = 0;
  for (let at = open; at < text.length; at += 1) {
    if (text[at] === opening) depth += 1;
    if (text[at] === closing) depth -= 1;
    if (depth === 0) return at;
  }
  throw new Error(`a ${opening} is never closed: ${text.slice(open, open + 60)}`);
};

/** The offset of the bracket that opens the one at `close`. */
export const openOf = (text: string, close: number): number => {
  const closing = text[close] ?? '';
  const opening = Object.keys(CLOSING).find((bracket) => CLOSING[bracket] === closing);
  let depth = 0;
  for (let at = close; at >= 0; at -= 1) {
    if (text[at] === closing) depth += 1;
    if (text[at] === opening) depth -= 1;
    if (depth === 0) return at;
  }
  throw new Error(`a ${closing} was never opened: ${text.slice(close - 60, close + 1)}`);
};

/** Where the statement that goes on at `from` ends: at its semicolon, or at `end` before that. */
export const statementEnd = (text: string, from: number, end = ';'): number => {
  let at = from;
  while (at < text.length && text[at] !== ';' && !text.startsWith(end, at)) {
    at = (text[at] ?? '') in CLOSING ? closeOf(text, at) + 1 : at + 1;
  }
  return at;
};

/** Splits a list at the commas that no bracket encloses. */
export const splitList = (list: string): string[] => {
  const parts: string[] = [];
  let start = 0;
  for (let at = 0; at < list.length; at += 1) {
    const character = list[at] ?? '';
    if (character in CLOSING) at = closeOf(list, at);
    // A generic argument list has commas of its own; a comparison has none around it here.
    else if (character === ',') {
      parts.push(list.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(list.slice(start));
  return parts.map((part) => part.trim()).filter((part) => part !== '');
};

/** One line, without the spaces that a broken line leaves behind brackets and before dots. */
export const oneLine = (text: string): string =>
  text
    .replace(/\s+/g, ' ')
    .replace(/([([]) /g, '$1')
    .replace(/,? ([)\]])/g, '$1')
    .replace(/ \./g, '.')
    .trim();
