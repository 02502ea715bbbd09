import { createInterface } from 'node:readline/promises';
import { CommandError } from './output.ts';

/**
 * Asks a person at the terminal, on standard error.
 *
 * @param untouched what to say where the answer is no, such as "Nothing was sent."
 * @throws CommandError unless they agree
 */
export async function confirm(question: string, untouched: string): Promise<void> {
  if (!process.stdin.isTTY) {
    throw new CommandError(`${untouched} Without a terminal, --yes says that it is meant.`);
  }
  if (!/^y(es)?$/i.test(await ask(`${question} [y/N] `))) throw new CommandError(untouched);
}

/**
 * Asks on standard error for one line of standard input.
 *
 * @throws CommandError when the input ends without one
 */
export async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const end = new Promise<never>((_, reject) => {
    terminal.once('close', () => reject(new CommandError('The input ended without an answer.')));
  });
  const answer = await Promise.race([terminal.question(question), end]).finally(() =>
    terminal.close(),
  );
  return answer.trim();
}
