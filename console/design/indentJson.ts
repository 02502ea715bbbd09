/** An empty list or object, a text, what opens, closes or parts, and any other value. */
const TOKENS = /\{\s*\}|\[\s*\]|"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
/** Indents grow with the depth: a deeper text would become many times as long. */
const DEPTH_MAX = 32;

/** JSON in lines. Its values stay as they are written, as do texts that are no JSON or very deep. */
export function indentJson(text: string): string {
  if (!isJson(text)) return text;
  let depth = 0;
  let lines = '';
  for (const [token] of text.matchAll(TOKENS)) {
    const isClosing = token === '}' || token === ']';
    if (token === '{' || token === '[') depth += 1;
    if (isClosing) depth -= 1;
    if (depth > DEPTH_MAX) return text;
    const line = `\n${'  '.repeat(depth)}`;
    if (isClosing) lines += line + token;
    else if (token === '{' || token === '[' || token === ',') lines += token + line;
    else lines += token === ':' ? ': ' : token.replace(/^([[{])\s+/, '$1');
  }
  return lines;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
