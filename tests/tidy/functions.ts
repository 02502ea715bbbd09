import { parseSync, Visitor } from 'vite';

/** A function with its lines, from its first to its last. */
export interface FunctionSize {
  line: number;
  lines: number;
}

/** @returns every function of a TypeScript file, those inside of others too */
export function functionsOf(path: string, source: string): FunctionSize[] {
  const lineAt = (index: number): number => source.slice(0, index).split('\n').length;
  const sizes: FunctionSize[] = [];
  const note = ({ start, end }: { start: number; end: number }): void => {
    const line = lineAt(start);
    sizes.push({ line, lines: lineAt(end) - line + 1 });
  };
  new Visitor({
    FunctionDeclaration: note,
    FunctionExpression: note,
    ArrowFunctionExpression: note,
  }).visit(parseSync(path, source).program);
  return sizes;
}
