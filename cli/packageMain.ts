import { Command } from 'commander';
import { type LoadCommand, runProgram, withWebhooks } from './program.ts';
import { CommandError } from './terminal/output.ts';

/** Commands that need the database or the service, which this package does not contain. */
const OPERATORS = [...['keys', 'indexer', 'disputes', 'canary'], ...['migrate', 'roles']];
const OPERATORS_OF_WEBHOOKS = [
  ...['list', 'deliveries', 'replay', 'test'],
  ...['rotate', 'reseal', 'edit', 'enable', 'disable'],
];

const loadWebhooks: LoadCommand = async () => {
  const { createWebhooksCommand } = await import('./wallet/webhooks.ts');
  const webhooks = createWebhooksCommand().commandsGroup('For operators, with the database:');
  for (const name of OPERATORS_OF_WEBHOOKS) webhooks.addCommand(explain(name, `webhooks ${name}`));
  return webhooks;
};

function explain(name: string, words = name): Command {
  return new Command(name)
    .description('in a checkout of the service only')
    .allowUnknownOption()
    .allowExcessArguments()
    .action(() => {
      throw new CommandError(
        `svc ${words} works on the service's database: run it in a checkout or image of the service.`,
      );
    });
}

await runProgram([
  ...withWebhooks(loadWebhooks),
  ...OPERATORS.map((verb) => [verb, async () => explain(verb)] as const),
]);
