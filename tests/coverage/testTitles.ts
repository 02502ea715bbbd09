import { type ParserOptions, parse } from '@babel/parser';

/** One `it` of a test file. */
export interface FoundTest {
  /** As written: of an `it.each`, with its placeholders. */
  title: string;
  /** The same behind the titles of what it stands in. */
  fullTitle: string;
  /** Why it shows nothing: it is skipped, or there is nothing in it. */
  isEmpty: boolean;
}

export const SEPARATOR = ' › ';

interface Node {
  type: string;
  start: number;
  end: number;
  [field: string]: unknown;
}

const options: ParserOptions = { sourceType: 'module', plugins: ['typescript'] };

/** Every test that a file declares, found by parsing it. */
export function testsOf(source: string): FoundTest[] {
  const found: FoundTest[] = [];

  function visit(node: Node, around: readonly string[], isSkipped: boolean): void {
    const call = callOf(node, source);
    const titles = call ? [...around, call.title] : around;
    const skips = isSkipped || (call?.isSkipped ?? false);
    if (call && call.kind !== 'describe') {
      const isEmpty = skips || !call.hasBody;
      found.push({ title: call.title, fullTitle: titles.join(SEPARATOR), isEmpty });
      return;
    }
    for (const child of Object.values(node).flat()) {
      if (isNode(child)) visit(child, titles, skips);
    }
  }

  visit(parse(source, options).program as unknown as Node, [], false);
  return found;
}

/** `it(…)`, `describe.each(…)(…)` and the like, if the node is such a call. */
function callOf(node: Node, source: string) {
  if (node.type !== 'CallExpression') return undefined;
  const callee = node.callee as Node;
  const name = source.slice(callee.start, callee.end);
  const [, kind, modifier] = /^x?(it|test|describe)\b(?:\.(\w+))?/.exec(name) ?? [];
  // `it.each(table)` is called once more, with the title.
  if (!kind || name.endsWith('.each')) return undefined;
  const [title, body] = node.arguments as (Node | undefined)[];
  const text = title && textOf(title);
  if (text === undefined) return undefined;
  return {
    kind,
    title: text,
    isSkipped: name.startsWith('x') || modifier === 'skip' || modifier === 'todo',
    hasBody: body !== undefined && !isBlank(body.body as Node),
  };
}

function isBlank(body: Node | undefined): boolean {
  return body?.type === 'BlockStatement' && (body.body as Node[]).length === 0;
}

function textOf(title: Node): string | undefined {
  if (title.type === 'StringLiteral') return title.value as string;
  if (title.type !== 'TemplateLiteral') return undefined;
  const parts = title.quasis as { value: { cooked: string } }[];
  return parts.map(({ value }) => value.cooked).join('…');
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}
