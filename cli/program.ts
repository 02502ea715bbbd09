import { createRequire } from 'node:module';
import { Command, CommanderError, InvalidArgumentError, type OutputConfiguration } from 'commander';
import { CommandError } from './terminal/output.ts';

/** A command, loaded on demand because all of them together load slowly. */
export type LoadCommand = () => Promise<Command>;
export type Verb = readonly [name: string, load: LoadCommand];

/**
 * The commands for customers, auditors and workers, in the order of their first use. They need neither
 * database nor service.
 */
export const PUBLISHED: readonly Verb[] = [
  ['keygen', async () => (await import('./keygen.ts')).createKeygenCommand()],
  ['credits', async () => (await import('./wallet/credits.ts')).createCreditsCommand()],
  ['key', async () => (await import('./wallet/key.ts')).createKeyCommand()],
  ['verify', async () => (await import('./verify.ts')).createVerifyCommand()],
  ['webhooks', async () => (await import('./wallet/webhooks.ts')).createWebhooksCommand()],
  ['alerts', async () => (await import('./wallet/alerts.ts')).createAlertsCommand()],
  ['audit', async () => (await import('./audit.ts')).createAuditCommand()],
  ['worker', async () => (await import('./worker.ts')).createWorkerCommand()],
  ['model', async () => (await import('./models/model.ts')).createModelCommand()],
  ['send', async () => (await import('./send.ts')).createSendCommand()],
  ['token-account', async () => (await import('./tokenAccount.ts')).createTokenAccountCommand()],
  ['localnet', async () => (await import('./localnet/localnet.ts')).createLocalnetCommand()],
];

/** The same, with other commands of `svc webhooks`. */
export const withWebhooks = (load: LoadCommand): Verb[] =>
  PUBLISHED.map((verb) => (verb[0] === 'webhooks' ? ['webhooks', load] : verb));

/**
 * Runs the command that `args` names. How it ended is the process's exit code.
 *
 * @param options.args the words of the command line after `svc`
 * @param options.output where help and misuse are written
 */
export async function runProgram(
  verbs: readonly Verb[],
  {
    args = process.argv.slice(2),
    output = {},
  }: { args?: readonly string[]; output?: OutputConfiguration } = {},
): Promise<void> {
  // By its own name: the package has the file elsewhere than the sources do.
  const { version } = createRequire(import.meta.url)('@svc-inference/cli/package.json') as {
    version: string;
  };
  const program = new Command('svc')
    .description(
      'Buys, checks, serves and operates inference. Exit code 1: refused or failed, and why is on standard error.',
    )
    .version(version);
  const named = verbs.find(([verb]) => verb === args[0]);
  // Only help and unknown commands need all of them.
  for (const [, load] of named ? [named] : verbs) program.addCommand(await load());
  setUp(program, output);
  // Node ignores a failed write, but a new key is printed only once.
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    process.exitCode = 1;
    // A reader such as `head` closes the pipe on purpose.
    if (code !== 'EPIPE') console.error(`Standard output cannot be written (${code}).`);
  });
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    // Help or misuse is written by now; an invalid argument that an action throws is not.
    if (error instanceof CommanderError && !(error instanceof InvalidArgumentError)) {
      process.exitCode ||= error.exitCode;
      return;
    }
    console.error(error instanceof CommandError ? error.message : error);
    process.exitCode = 1;
  }
}

/**
 * Has it write to `output`, and throw where it would end the process. Errors about a mistyped option
 * name it without its value, which may be a key.
 */
function setUp(command: Command, output: OutputConfiguration): void {
  command.exitOverride().configureOutput({
    ...output,
    outputError: (text, write) => write(text.replace(/'(-[^=]*)=.*'/gs, "'$1'")),
  });
  for (const subcommand of command.commands) setUp(subcommand, output);
}
