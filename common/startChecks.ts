import { reasonOf } from './reasonOf.ts';
import { within } from './wait.ts';

/** A trial of one thing that a process needs, without a start of the process. */
export interface StartCheck {
  /** The thing, in a word or two. */
  what: string;
  /** @returns the finding, in a few words; throws a sentence about the fault */
  run: () => Promise<string>;
}

const CHECK_TIMEOUT_MS = 10_000;

/** Whether a process was started with `--check`: to try its settings and connections, and end. */
export function isCheckRequested(): boolean {
  return process.argv.includes('--check');
}

/**
 * Tries everything, also behind a failure, and writes a line for each.
 *
 * @returns whether all holds
 */
export async function runStartChecks(
  checks: readonly StartCheck[],
  write: (line: string) => void,
): Promise<boolean> {
  let isAllWell = true;
  for (const { what, run } of checks) {
    const found = await outcomeOf(run);
    isAllWell &&= found.isWell;
    write(`${found.isWell ? 'ok    ' : 'FAILED'}  ${what.padEnd(16)}  ${found.text}`);
  }
  return isAllWell;
}

async function outcomeOf(run: StartCheck['run']): Promise<{ isWell: boolean; text: string }> {
  try {
    const found = await within(
      CHECK_TIMEOUT_MS,
      run().then((text) => ({ text })),
    );
    if (found) return { isWell: true, text: found.text };
    return { isWell: false, text: `no answer within ${CHECK_TIMEOUT_MS / 1_000} s` };
  } catch (error) {
    return { isWell: false, text: reasonOf(error) };
  }
}

/** Tries all, writes the lines to standard output, and ends the process: 0 where all holds, else 1. */
export async function endAfterChecks(checks: readonly StartCheck[]): Promise<never> {
  const isAllWell = await runStartChecks(checks, (line) => process.stdout.write(`${line}\n`));
  process.exit(isAllWell ? 0 : 1);
}
