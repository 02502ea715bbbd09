import { execFileSync } from 'node:child_process';
import { ROOT } from './sourceTree.ts';

/** Where a change may have begun; the first that is known counts. */
const BASES = ['origin/main', 'main'];

/**
 * @returns the messages of the commits since the change left the main branch. On that branch, and in
 *   a clone that does not know it, the last commit alone; none where there is no history
 */
export function messagesOfChange(): string[] {
  const head = git('rev-parse', 'HEAD');
  const base = BASES.map((name) => git('merge-base', name, 'HEAD')).find((found) => found !== '');
  const range = base === undefined || base === head ? ['-1'] : [`${base}..HEAD`];
  const log = git('log', '--no-merges', '--format=%B%x00', ...range);
  return log.split('\0').flatMap((message) => (message.trim() === '' ? [] : message.trim()));
}

/** @returns what git prints, trimmed; empty where it fails */
function git(...args: string[]): string {
  try {
    const stdio = ['ignore', 'pipe', 'ignore'] as const;
    return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: [...stdio] }).trim();
  } catch {
    return '';
  }
}
