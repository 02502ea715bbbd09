import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

/** The words that start bash without any start-up file of the user. */
export const BASH = ['bash', '--norc', '--noprofile'] as const;

/** What starts bash on a script, as `spawn` takes it. @param flags `c` is the last of them */
export function bashOn(script: string, flags = '-c'): [file: string, args: string[]] {
  const [bash, ...words] = BASH;
  return [bash, [...words, flags, script]];
}

/**
 * Runs a script as its reader would.
 *
 * @param options.flags of bash; `-euc` ends with the first command that fails
 * @returns what it writes to its standard output
 * @throws Error with what it wrote, unless it ends with 0
 */
export async function runScript(
  script: string,
  options: { cwd?: string; env: Record<string, string | undefined>; flags?: string },
): Promise<string> {
  const { cwd, env, flags } = options;
  return (await promisify(execFile)(...bashOn(script, flags), { cwd, env })).stdout;
}

/** The script of a page in which Node has drawn the random values, where `openssl` is missing. */
export const drawValues = (script: string, openssl: { isMet: boolean }): string =>
  openssl.isMet
    ? script
    : script.replace(
        /\$\(openssl rand -(hex|base64) (\d+)\)|openssl rand -(hex|base64) (\d+)/g,
        (line, inner, innerBytes, outer, outerBytes) => {
          const value = randomBytes(Number(innerBytes ?? outerBytes)).toString(inner ?? outer);
          return line.startsWith('$') ? value : `echo ${value}`;
        },
      );
