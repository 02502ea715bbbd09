import { spawnSync } from 'node:child_process';
import type { CodeBlock } from '../documents.ts';
import type { Fault } from './fault.ts';

/** Prints what is wrong with each of a list of sources, or null. */
const PARSE = `
import ast, json, sys
def problem(source):
    try: ast.parse(source)
    except SyntaxError as error: return f"line {error.lineno}: {error.msg}"
print(json.dumps([problem(source) for source in json.load(sys.stdin)]))
`;

export function checkPython(blocks: readonly CodeBlock[]): Fault[] {
  const input = JSON.stringify(blocks.map(({ text }) => text));
  const { stdout, stderr } = spawnSync('python3', ['-c', PARSE], { input, encoding: 'utf8' });
  if (!stdout) throw new Error(stderr);
  const problems = JSON.parse(stdout) as (string | null)[];
  return blocks.flatMap((block, index) => {
    const problem = problems[index];
    return problem ? [{ block, problem }] : [];
  });
}
