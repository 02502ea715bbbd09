import { Command } from 'commander';
import { type LoadCommand, PUBLISHED, runProgram } from './program.ts';
import { CommandError } from './terminal/output.ts';

/** Commands that need the database or the service, which this package does not contain. */
const OPERATORS = [
  ...['keys', 'webhooks', 'indexer', 'disputes', 'canary'],
  ...['migrate', 'backup', 'restore'],
];

function explain(verb: string): LoadCommand {
  return async () =>
    new Command(verb)
      .description('in a checkout of the service only')
      .allowUnknownOption()
      .allowExcessArguments()
      .action(() => {
        throw new CommandError(
          `svc ${verb} works on the service's database: run it in a checkout or image of the service.`,
        );
      });
}

await runProgram([...PUBLISHED, ...OPERATORS.map((verb) => [verb, explain(verb)] as const)]);
