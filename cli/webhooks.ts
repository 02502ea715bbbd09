import { Command, InvalidArgumentError } from 'commander';
import type pg from 'pg';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../indexer/webhooks/operate/deliveries.ts';
import {
  disableWebhook,
  enableWebhook,
  WebhookDisabledError,
  WebhookNotFoundError,
} from '../indexer/webhooks/operate/webhooks.ts';
import { withDatabase } from './database.ts';
import { parseAddress } from './ledgerNode.ts';
import { CommandError } from './output.ts';
import {
  PAGE,
  type Range,
  replay,
  reseal,
  rotate,
  showDeliveries,
  showWebhooks,
  test,
} from './webhookActions.ts';

/** The verbs for webhooks. What they queue is sent by the indexer. */
export function createWebhooksCommand(): Command {
  const webhooks = new Command('webhooks').description(
    'look at webhooks and their deliveries, send events again, change secrets',
  );
  webhooks
    .command('list')
    .description("a wallet's webhooks, and how many events wait there")
    .requiredOption('--wallet <address>', 'the wallet', (text) => parseAddress(text).toBase58())
    .action(({ wallet }: { wallet: string }) => onWebhooks((pool) => showWebhooks(pool, wallet)));
  withRange(webhooks.command('deliveries <webhook>'))
    .description(`a webhook's deliveries, newest first, up to ${PAGE}`)
    .option('--status <status>', DELIVERY_STATUSES.join(', '), parseStatus)
    .option('--before <delivery>', 'those before this one', parseDeliveryId)
    .action((webhook: string, options: Range & { status?: DeliveryStatus; before?: bigint }) =>
      onWebhooks((pool) => showDeliveries(pool, webhook, options)),
    );
  withRange(webhooks.command('replay <webhook>'))
    .description('send failed and undelivered events again, in the order of the ledger')
    .option('--delivery <id>', 'this one only', parseDeliveryId)
    .action((webhook: string, options: Range & { delivery?: bigint }) =>
      onWebhooks((pool) => replay(pool, webhook, options)),
    );
  webhooks
    .command('test <webhook>')
    .description('send an event of the kind webhook.test, and show how it goes')
    .action((webhook: string) => onWebhooks((pool) => test(pool, webhook)));
  webhooks
    .command('rotate <webhook>')
    .description('make a new secret, shown once; the old one signs beside it for 24 hours')
    .action((webhook: string) => onWebhooks((pool) => rotate(pool, webhook)));
  webhooks
    .command('reseal')
    .description("put all webhooks' secrets under SVC_SECRETS_KEY, while the key is changed")
    .action(() => onWebhooks((pool) => reseal(pool)));
  webhooks
    .command('enable <webhook>')
    .description('send events again, from now on')
    .action((webhook: string) =>
      onWebhooks(async (pool) => {
        await enableWebhook(pool, webhook);
        console.error(`The webhook ${webhook} is active.`);
      }),
    );
  webhooks
    .command('disable <webhook>')
    .description('send nothing more; events are kept for 30 days')
    .action((webhook: string) =>
      onWebhooks(async (pool) => {
        await disableWebhook(pool, webhook);
        console.error(`The webhook ${webhook} is disabled.`);
      }),
    );
  return webhooks;
}

async function onWebhooks(work: (pool: pg.Pool) => Promise<void>): Promise<void> {
  try {
    await withDatabase(work);
  } catch (error) {
    const isExplained =
      error instanceof WebhookNotFoundError || error instanceof WebhookDisabledError;
    throw isExplained ? new CommandError(error.message, { cause: error }) : error;
  }
}

function withRange(command: Command): Command {
  return command
    .option('--since <time>', 'events from this time on, in ISO 8601', parseTime)
    .option('--until <time>', 'events before this time, in ISO 8601', parseTime);
}

function parseTime(text: string): Date {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw new InvalidArgumentError('It is no time.');
  return time;
}

function parseStatus(text: string): DeliveryStatus {
  const status = DELIVERY_STATUSES.find((known) => known === text);
  if (!status) throw new InvalidArgumentError(`It is none of ${DELIVERY_STATUSES.join(', ')}.`);
  return status;
}

function parseDeliveryId(text: string): bigint {
  if (!/^\d{1,18}$/.test(text)) throw new InvalidArgumentError('It is no number of a delivery.');
  return BigInt(text);
}
