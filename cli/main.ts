import { Command } from 'commander';
import { KeyExistsError, KeyNotFoundError } from '../api/services/keys.ts';
import { CommandError } from './errors.ts';
import { createKeysCommand } from './keys.ts';

const program = new Command('svc')
  .description(
    'Operates the service. Exit code 1: refused or failed, and why is on standard error.',
  )
  .addCommand(createKeysCommand());

try {
  await program.parseAsync();
} catch (error) {
  const isExplained = [CommandError, KeyExistsError, KeyNotFoundError].some(
    (kind) => error instanceof kind,
  );
  console.error(isExplained ? (error as Error).message : error);
  process.exitCode = 1;
}
