import { Command } from 'commander';
import { CommandError } from './output.ts';

/** A verb, loaded when it is wanted: all of them together take a while to load. */
export type LoadCommand = () => Promise<Command>;

/** What clients, auditors and workers need: neither the database nor the service. */
export const PUBLISHED: readonly [verb: string, load: LoadCommand][] = [
  ['verify', async () => (await import('./verify.ts')).createVerifyCommand()],
  ['audit', async () => (await import('./audit.ts')).createAuditCommand()],
  ['send', async () => (await import('./send.ts')).createSendCommand()],
  ['worker', async () => (await import('./worker.ts')).createWorkerCommand()],
  ['localnet', async () => (await import('./localnet.ts')).createLocalnetCommand()],
];

/** Runs the verb that the command line names. */
export async function runProgram(
  verbs: readonly (readonly [verb: string, load: LoadCommand])[],
): Promise<void> {
  const program = new Command('svc').description(
    'Operates the service. Exit code 1: refused or failed, and why is on standard error.',
  );
  const named = verbs.find(([verb]) => verb === process.argv[2]);
  // Only help, and what nobody knows, need them all.
  for (const [, load] of named ? [named] : verbs) program.addCommand(await load());
  repeatNoValues(program);
  // Node passes over what cannot be written, and what was made is told once.
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    process.exitCode = 1;
    // Whoever stopped reading, as `head` does, knows.
    if (code !== 'EPIPE') console.error(`Standard output cannot be written (${code}).`);
  });
  try {
    await program.parseAsync();
  } catch (error) {
    console.error(error instanceof CommandError ? error.message : error);
    process.exitCode = 1;
  }
}

/** What is said of a mistyped option names it without its value, which may be a key. */
function repeatNoValues(command: Command): void {
  command.configureOutput({
    outputError: (text, write) => write(text.replace(/'(-[^=]*)=.*'/gs, "'$1'")),
  });
  for (const subcommand of command.commands) repeatNoValues(subcommand);
}
