import { Command } from 'commander';
import { CommandError } from './output.ts';

/** Each brings in its own part of the service, and all of them together take a while to load. */
const COMMANDS = new Map<string, () => Promise<Command>>([
  ['keys', async () => (await import('./keys.ts')).createKeysCommand()],
  ['webhooks', async () => (await import('./webhooks.ts')).createWebhooksCommand()],
  ['indexer', async () => (await import('./indexer.ts')).createIndexerCommand()],
  ['disputes', async () => (await import('./disputes.ts')).createDisputesCommand()],
  ['send', async () => (await import('./send.ts')).createSendCommand()],
  ['verify', async () => (await import('./verify.ts')).createVerifyCommand()],
  ['audit', async () => (await import('./audit.ts')).createAuditCommand()],
  ['localnet', async () => (await import('./localnet.ts')).createLocalnetCommand()],
  ['canary', async () => (await import('./canary.ts')).createCanaryCommand()],
]);

const program = new Command('svc').description(
  'Operates the service. Exit code 1: refused or failed, and why is on standard error.',
);
const named = COMMANDS.get(process.argv[2] ?? '');
// Only help, and what nobody knows, need them all.
for (const load of named ? [named] : COMMANDS.values()) program.addCommand(await load());
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

/** What is said of a mistyped option names it without its value, which may be a key. */
function repeatNoValues(command: Command): void {
  command.configureOutput({
    outputError: (text, write) => write(text.replace(/'(-[^=]*)=.*'/gs, "'$1'")),
  });
  for (const subcommand of command.commands) repeatNoValues(subcommand);
}
