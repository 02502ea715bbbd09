import { parseSync } from 'vite';

/** One change of a source file: the text between two offsets becomes another. */
export interface Mutation {
  start: number;
  end: number;
  replacement: string;
  operator: string;
}

interface Node {
  type: string;
  start: number;
  end: number;
  // biome-ignore lint/suspicious/noExplicitAny: the fields of a node depend on its type
  [field: string]: any;
}

const BINARY: Readonly<Record<string, string>> = {
  ...{ '<': '<=', '<=': '<', '>': '>=', '>=': '>', '===': '!==', '!==': '===' },
  ...{ '+': '-', '-': '+', '*': '+', '/': '*' },
};
const METHODS: Readonly<Record<string, string>> = {
  ...{ min: 'max', max: 'min', ceil: 'floor', floor: 'ceil', every: 'some', some: 'every' },
};
/** Statements without a word in what money does: logs, measured times, answers' headers. */
const ASIDE = /^(await )?(void )?(logger|stages|metrics|trace|services\.observe|response\.set)\b/;

/** Every mutation of a TypeScript source that the operators know, in the order of the text. */
export function mutationsOf(source: string): Mutation[] {
  const { program, errors } = parseSync('source.ts', source);
  if (errors.length > 0) throw new Error(`the source does not parse: ${errors[0]?.message}`);
  const mutations: Mutation[] = [];
  const text = (node: Node): string => source.slice(node.start, node.end);

  /** Comparisons of which the equal case gives the same either way: `a < b ? a : b`. */
  const minima = new Set<Node>();

  function noteMinimum({ test, consequent, alternate }: Node): void {
    const [one, other] = [test.left, test.right].map((side) => side && text(side));
    const isMinimum =
      [text(consequent), text(alternate)].toSorted().join() === [one, other].toSorted().join();
    if (test.type === 'BinaryExpression' && isMinimum) minima.add(test);
  }

  function add(operator: string, at: { start: number; end: number }, replacement: string): void {
    mutations.push({ operator, start: at.start, end: at.end, replacement });
  }

  function mutateBinary(node: Node): void {
    const { left, right, operator } = node;
    const other = BINARY[operator];
    if (minima.has(node)) return;
    if (other === undefined || isText(left) || isText(right)) return;
    add(`${operator} becomes ${other}`, node, `${text(left)} ${other} ${text(right)}`);
    if (operator === '<' || operator === '>' || operator === '-') {
      add('operands swapped', node, `${text(right)} ${operator} ${text(left)}`);
    }
  }

  function mutateIf({ test, consequent, alternate, start, end }: Node): void {
    add('condition negated', test, `!(${text(test)})`);
    if (!alternate && /^\{?\s*(return|throw|continue)\b/.test(text(consequent))) {
      add('guard removed', { start, end }, ';');
    }
  }

  function mutateFunction({ body }: Node): void {
    if (body?.type !== 'BlockStatement' || body.body.length === 0) return;
    add('early return', { start: body.start, end: body.start + 1 }, '{ return undefined as never;');
  }

  function mutateLogical(node: Node): void {
    const [left, right] = [text(node.left), text(node.right)];
    if (node.operator === '??') add('fallback removed', node, `(${left})`);
    else {
      const other = node.operator === '&&' ? '||' : '&&';
      add(`${node.operator} becomes ${other}`, node, `((${left}) ${other} (${right}))`);
    }
  }

  function mutateLiteral(node: Node): void {
    if (typeof node.value === 'boolean') add('constant flipped', node, String(!node.value));
    const written = text(node);
    if (!/^[0-9_]+n?$/.test(written)) return;
    const value = BigInt(written.replace(/[_n]/g, ''));
    const suffix = written.endsWith('n') ? 'n' : '';
    add('constant + 1', node, `${value + 1n}${suffix}`);
    if (value > 0n) add('constant - 1', node, `${value - 1n}${suffix}`);
  }

  function mutateMember({ property, computed }: Node): void {
    const other = computed ? undefined : METHODS[property.name];
    if (other) add(`${property.name} becomes ${other}`, property, other);
  }

  function mutate(node: Node): void {
    switch (node.type) {
      case 'BinaryExpression':
        mutateBinary(node);
        break;
      case 'LogicalExpression':
        mutateLogical(node);
        break;
      case 'UnaryExpression':
        if (node.operator === '!') add('! removed', node, `(${text(node.argument)})`);
        break;
      case 'Literal':
        mutateLiteral(node);
        break;
      case 'IfStatement':
        mutateIf(node);
        break;
      case 'ConditionalExpression':
        if (isWithoutWord(node.consequent)) break;
        noteMinimum(node);
        add(
          'branches swapped',
          node,
          `(${text(node.test)}) ? (${text(node.alternate)}) : (${text(node.consequent)})`,
        );
        break;
      case 'ExpressionStatement':
        if (!ASIDE.test(text(node))) add('statement removed', node, ';');
        break;
      case 'ThrowStatement':
        add('throw removed', node, ';');
        break;
      case 'MemberExpression':
        mutateMember(node);
        break;
      case 'FunctionDeclaration':
      case 'FunctionExpression':
      case 'ArrowFunctionExpression':
        mutateFunction(node);
        break;
    }
  }

  const visit = (value: unknown): void => {
    if (Array.isArray(value)) {
      for (const item of value) visit(item);
    } else if (isNode(value) && isWithoutWord(value)) {
      return;
    } else if (isNode(value) && !/^(TS|Import)/.test(value.type)) {
      mutate(value);
      for (const [field, child] of Object.entries(value)) if (field !== 'type') visit(child);
    } else if (isNode(value) && /^TS(As|NonNull|Satisfies)/.test(value.type)) {
      visit(value.expression);
    }
  };
  visit(program.body);
  return mutations.sort((one, other) => one.start - other.start || one.end - other.end);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

/**
 * What no test can see or should: a millisecond of waiting, one entry more in a cache, a smaller
 * batch, and the words of messages.
 */
function isWithoutWord({ type, id, key }: Node): boolean {
  if (type === 'TemplateLiteral') return true;
  const name = type === 'VariableDeclarator' ? id.name : type === 'Property' ? key.name : undefined;
  return /(_MS(_MIN|_MAX)?|_SHOWN_MAX|CONTROLLERS_MAX|Transaction|LimitEach)$/.test(name ?? '');
}

/** Text joined with + has no - that would make sense. */
function isText(node: Node): boolean {
  return node.type === 'TemplateLiteral' || typeof node.value === 'string';
}

export function applyMutation(source: string, { start, end, replacement }: Mutation): string {
  return source.slice(0, start) + replacement + source.slice(end);
}
