import { type Command, InvalidArgumentError, Option } from 'commander';
import type pg from 'pg';
import { webhookRequest } from '../../api/contracts/webhook.ts';
import { BudgetSpentError } from '../../webhookOperations/budget.ts';
import {
  DELIVERY_STATUSES,
  type DeliveryStatus,
} from '../../webhookOperations/deliveryStatuses.ts';
import { DuplicateWebhookError, type WebhookChange } from '../../webhookOperations/editWebhook.ts';
import {
  disableWebhook,
  enableWebhook,
  WebhookDisabledError,
  WebhookNotFoundError,
} from '../../webhookOperations/webhooks.ts';
import { WEBHOOK_KINDS } from '../../webhooks/events.ts';
import { asCommandError, messageOf } from '../terminal/asCommandError.ts';
import { parseAddressText } from '../terminal/ledgerNode.ts';
import { createWebhooksCommand as createCustomersCommand } from '../wallet/webhooks.ts';
import { withDatabase } from './database.ts';
import {
  anyWallets,
  edit,
  PAGE,
  type Range,
  replay,
  reseal,
  rotate,
  showDeliveries,
  showWebhooks,
  test,
} from './webhookActions.ts';

/** `svc webhooks`, the customers' commands among them. The indexer sends what these ones queue. */
export function createWebhooksCommand(): Command {
  const webhooks = createCustomersCommand().commandsGroup('For operators, with the database:');
  webhooks
    .command('list')
    .description("a wallet's webhooks with their pending events")
    .requiredOption('--wallet <address>', 'the wallet', parseAddressText)
    .action(({ wallet }: { wallet: string }) => onWebhooks((pool) => showWebhooks(pool, wallet)));
  withRange(webhooks.command('deliveries <webhook>'))
    .description(`a webhook's deliveries, newest first, up to ${PAGE}`)
    .option('--status <status>', DELIVERY_STATUSES.join(', '), parseStatus)
    .option('--before <delivery>', 'only deliveries before this one', parseDeliveryId)
    .action((webhook: string, options: Range & { status?: DeliveryStatus; before?: bigint }) =>
      onWebhooks((pool) => showDeliveries(pool, webhook, options)),
    );
  withRange(webhooks.command('replay <webhook>'))
    .description('send failed and undelivered events again, in the order of the ledger')
    .option('--delivery <id>', 'only this delivery', parseDeliveryId)
    .action((webhook: string, options: Range & { delivery?: bigint }) =>
      onWebhooks((pool) => replay(pool, webhook, options)),
    );
  webhooks
    .command('test <webhook>')
    .description('send an event of the kind webhook.test, and show the result')
    .action((webhook: string) => onWebhooks((pool) => test(pool, webhook)));
  webhooks
    .command('rotate <webhook>')
    .description('make a new secret, shown once; for 24 hours both secrets sign')
    .action((webhook: string) => onWebhooks((pool, url) => rotate(pool, webhook, url)));
  webhooks
    .command('reseal')
    .description('seal all webhook secrets with a new SVC_SECRETS_KEY')
    .action(() => onWebhooks((pool) => reseal(pool)));
  addChanges(webhooks);
  return webhooks;
}

function addChanges(webhooks: Command): void {
  webhooks
    .command('edit <webhook>')
    .description('change where events go, or which ones, and make the webhook active')
    .option('--url <url>', 'the new endpoint', parseEndpoint)
    .addOption(new Option('--events <kinds...>', 'all kinds to send').choices(WEBHOOK_KINDS))
    .action((webhook: string, change: WebhookChange) =>
      onWebhooks((pool) => edit(pool, webhook, change)),
    );
  webhooks
    .command('enable <webhook>')
    .description('send events again, from now on')
    .action((webhook: string) =>
      onWebhooks(async (pool) => {
        await enableWebhook(pool, anyWallets(webhook));
        console.error(`The webhook ${webhook} is active.`);
      }),
    );
  webhooks
    .command('disable <webhook>')
    .description('send nothing more; events are kept for 30 days')
    .action((webhook: string) =>
      onWebhooks(async (pool) => {
        await disableWebhook(pool, anyWallets(webhook));
        console.error(`The webhook ${webhook} is disabled.`);
      }),
    );
}

const explain = messageOf(
  WebhookNotFoundError,
  WebhookDisabledError,
  DuplicateWebhookError,
  BudgetSpentError,
);

function onWebhooks(work: (pool: pg.Pool, databaseUrl: string) => Promise<void>): Promise<void> {
  return asCommandError(() => withDatabase(work), explain);
}

function withRange(command: Command): Command {
  return command
    .option('--since <time>', 'events from this time on, in ISO 8601', parseTime)
    .option('--until <time>', 'events before this time, in ISO 8601', parseTime);
}

function parseTime(text: string): Date {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw new InvalidArgumentError('It must be an ISO 8601 time.');
  return time;
}

function parseEndpoint(text: string): string {
  const { data, error } = webhookRequest.shape.url.safeParse(text);
  if (data !== undefined) return data;
  throw new InvalidArgumentError(`It ${error?.issues[0]?.message}.`);
}

function parseStatus(text: string): DeliveryStatus {
  const status = DELIVERY_STATUSES.find((known) => known === text);
  if (!status) {
    throw new InvalidArgumentError(`It must be one of ${DELIVERY_STATUSES.join(', ')}.`);
  }
  return status;
}

function parseDeliveryId(text: string): bigint {
  if (!/^\d{1,18}$/.test(text)) throw new InvalidArgumentError('It must be the id of a delivery.');
  return BigInt(text);
}
