const STAND_IN = '#';

/**
 * Reads JSON. V8 of Node 24 to 26 may take a key with an escape for one that stood in its place in an
 * earlier text (nodejs/node#63785). What one client sent would change the keys of another. So V8 gets
 * no key with an escape: most are the same without one, and others get stand-ins.
 *
 * @throws SyntaxError where it is none
 */
export function parseJson(text: string): unknown {
  if (!text.includes('\\')) return JSON.parse(text);
  const names: string[] = [];
  let unescaped = '';
  let at = 0;
  for (const { start, end } of keysOf(text)) {
    const quoted = text.slice(start, end);
    if (!quoted.includes('\\') && quoted[1] !== STAND_IN) continue;
    const plain = JSON.stringify(JSON.parse(quoted));
    const needsNone = !plain.includes('\\') && plain[1] !== STAND_IN;
    const standIn = needsNone ? plain : `"${STAND_IN}${names.push(JSON.parse(quoted)) - 1}"`;
    unescaped += text.slice(at, start) + standIn;
    at = end;
  }
  const value: unknown = JSON.parse(unescaped + text.slice(at));
  return names.length === 0 ? value : named(value, names);
}

/** Where the strings before a colon begin, and end behind their quotes. */
function* keysOf(text: string): Generator<{ start: number; end: number }> {
  for (let start = text.indexOf('"'); start !== -1; ) {
    const end = endOfString(text, start);
    if (end === undefined) return;
    let next = end;
    while (next < text.length && ' \t\r\n'.includes(text.charAt(next))) next += 1;
    if (text[next] === ':') yield { start, end };
    start = text.indexOf('"', next);
  }
}

/** @returns what is behind the closing quote of the string that begins at `start`, if it has one */
export function endOfString(text: string, start: number): number | undefined {
  for (let quote = text.indexOf('"', start + 1); quote !== -1; ) {
    let slashes = 0;
    while (text[quote - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return quote + 1;
    quote = text.indexOf('"', quote + 1);
  }
  return undefined;
}

function named(value: unknown, names: readonly string[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((held) => named(held, names));
  const nameOf = (key: string) => (key.startsWith(STAND_IN) ? names[Number(key.slice(1))] : key);
  const fields = Object.entries(value).map(([key, held]) => [nameOf(key), named(held, names)]);
  return Object.fromEntries(fields);
}
