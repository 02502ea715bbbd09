/** A title of a test with those of the groups around it, as a report shows it. */
export interface TestTitle {
  line: number;
  text: string;
  /** Without its groups. */
  own: string;
}

/** A call that begins a group or a test; its indentation says which groups it is in. */
const CALL = /^( *)(?:(?:needs\([^)]*\)|\w+)\.)?(describe|it)(\.each)?\b/gm;
const LITERAL = /(['"`])((?:\\.|(?!\1)[^\\])*)\1/y;
/** Where the title of a table's tests begins: behind the table. */
const BEHIND_TABLE = /\)\(\s*(?=['"`])/g;
const RULE_IDS = / \[[a-z-]+\.[a-z0-9-]+\]/g;

/** @returns the titles of a test file, each `${…}` of a template as one word */
export function titlesOf(source: string): TestTitle[] {
  const groups: { indent: number; text: string }[] = [];
  return [...source.matchAll(CALL)].flatMap(
    ({ index, 0: call, 1: space = '', 2: kind, 3: each }) => {
      const text = titleAt(source, index + call.length, each !== undefined);
      if (text === undefined) return [];
      while ((groups.at(-1)?.indent ?? -1) >= space.length) groups.pop();
      const full = [...groups.map((group) => group.text), text].join(' ');
      if (kind === 'describe') groups.push({ indent: space.length, text });
      const line = source.slice(0, index).split('\n').length;
      return kind === 'describe' ? [] : [{ line, text: full, own: text }];
    },
  );
}

function titleAt(source: string, end: number, isTable: boolean): string | undefined {
  BEHIND_TABLE.lastIndex = end;
  const behind = isTable ? BEHIND_TABLE.exec(source) : /^\(\s*/.exec(source.slice(end, end + 200));
  if (behind === null) return undefined;
  LITERAL.lastIndex = (isTable ? behind.index : end) + behind[0].length;
  return LITERAL.exec(source)?.[2]
    ?.replace(/\$\{[^}]*\}/g, 'x')
    .replace(RULE_IDS, '');
}
