import { spawnSync } from 'node:child_process';
import type { CodeBlock } from '../documents.ts';
import type { Fault } from './fault.ts';

/** Whether this machine has a Python; the examples say so where it has none. */
export const HAS_PYTHON = spawnSync('python3', ['--version']).status === 0;

/** Prints what is wrong with each of a list of sources, or null. */
const PARSE = `
import ast, json, sys
def problem(source):
    try: ast.parse(source)
    except SyntaxError as error: return f"line {error.lineno}: {error.msg}"
print(json.dumps([problem(source) for source in json.load(sys.stdin)]))
`;

export function checkPython(blocks: readonly CodeBlock[]): Fault[] {
  if (!HAS_PYTHON) return [];
  const input = JSON.stringify(blocks.map(({ text }) => text));
  const { stdout, stderr } = spawnSync('python3', ['-c', PARSE], { input, encoding: 'utf8' });
  if (!stdout) throw new Error(stderr);
  const problems = JSON.parse(stdout) as (string | null)[];
  return blocks.flatMap((block, index) => {
    const problem = problems[index];
    return problem ? [{ block, problem }] : [];
  });
}
