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
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`${question} [y/N] `).finally(() => terminal.close());
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError(untouched);
}
