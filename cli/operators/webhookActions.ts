import Table from 'cli-table3';
import type pg from 'pg';
import { z } from 'zod';
import { booleanSetting, ConfigError, parseEnvironment } from '../../common/config.ts';
import {
  AddressRefusedError,
  assertAddressAllowed,
  resolveName,
} from '../../common/net/addressGuard.ts';
import {
  createSealing,
  hasDistinctKeys,
  SAME_KEYS,
  type Sealing,
  SealingError,
  secretsKeySettings,
} from '../../common/sealing.ts';
import { delay } from '../../common/wait.ts';
import { EXCHANGE_MS_MAX } from '../../indexer/webhooks/deliver/exchange.ts';
import { resealSecrets } from '../../indexer/webhooks/resealSecrets.ts';
import { readStackFile, STACK_FOLDER } from '../../stack/stackFile.ts';
import { listDeliveries } from '../../webhookOperations/deliveries.ts';
import type { DeliveryStatus } from '../../webhookOperations/deliveryStatuses.ts';
import { editWebhook, type WebhookChange } from '../../webhookOperations/editWebhook.ts';
import { replayDeliveries, replayDelivery } from '../../webhookOperations/replays.ts';
import { rotateSecret } from '../../webhookOperations/secrets.ts';
import { sendTestEvent } from '../../webhookOperations/sendTest.ts';
import {
  assertWebhook,
  listWebhooks,
  selectLastResult,
  type WebhookKey,
} from '../../webhookOperations/webhooks.ts';
import { asCommandError } from '../terminal/asCommandError.ts';
import { CommandError, PLAIN } from '../terminal/output.ts';

/** Deliveries shown at a time. */
export const PAGE = 100;
/** The time for one delivery attempt, and for the indexer to begin it. */
const TEST_MS_MAX = EXCHANGE_MS_MAX + 5_000;
const POLL_MS = 200;

const keysSchema = z.object(secretsKeySettings).refine(hasDistinctKeys, SAME_KEYS);

/** An operator at a terminal may see and change every wallet's webhooks. */
export function anyWallets(id: string): WebhookKey {
  return { id, wallet: null };
}

/** Events by their ledger time: from `since`, before `until`. */
export interface Range {
  readonly since?: Date;
  readonly until?: Date;
}

/** A wallet's webhooks as a table. */
export async function showWebhooks(pool: pg.Pool, wallet: string): Promise<void> {
  const head = ['webhook', 'status', 'pending', 'failed', 'undelivered', 'url', 'events'];
  const table = new Table({ head, style: PLAIN });
  for (const webhook of await listWebhooks(pool, wallet)) {
    const { id, status, pending, failed, undelivered, url, events } = webhook;
    table.push([id, status, pending, failed, undelivered, url, events.join('\n')]);
  }
  console.log(table.toString());
}

/** Of what a receiver answered last. */
const SAID_MAX = 40;

/** A webhook's deliveries as a table, newest first. @throws WebhookNotFoundError */
export async function showDeliveries(
  pool: pg.Pool,
  webhookId: string,
  { status, before, since, until }: Range & { status?: DeliveryStatus; before?: bigint },
): Promise<void> {
  const webhook = anyWallets(webhookId);
  await assertWebhook(pool, webhook);
  const filter = { webhook, since, until, ...(status && { statuses: [status] }) };
  const head = ['delivery', 'event', 'created', 'status', 'attempts', 'last'];
  const table = new Table({ head, style: PLAIN });
  for (const delivery of await listDeliveries(pool, filter, { limit: PAGE, before })) {
    const { id, event, event_id, created_at, attempts } = delivery;
    const [said = ''] = delivery.response?.split('\n') ?? [];
    const last = [delivery.status_code, delivery.error, said.slice(0, SAID_MAX)];
    table.push([
      ...[`${id}`, `${event}\n${event_id}`, created_at.toISOString()],
      ...[delivery.status, attempts, last.filter(Boolean).join(' ')],
    ]);
  }
  console.log(table.toString());
}

/** Queues failed and undelivered events again: one delivery, or those of a time range. */
export async function replay(
  pool: pg.Pool,
  webhookId: string,
  { delivery, since, until }: Range & { delivery?: bigint },
): Promise<void> {
  const webhook = anyWallets(webhookId);
  let count = 1;
  if (delivery === undefined) count = await replayDeliveries(pool, { webhook, since, until });
  else await replayDelivery(pool, { webhook, deliveryId: delivery });
  console.error(`${count} ${count === 1 ? 'event is' : 'events are'} sent again.`);
}

/**
 * Sends a test event and waits for the indexer to make the attempt.
 *
 * @throws CommandError when the attempt fails or is not made in time
 */
export async function test(pool: pg.Pool, webhookId: string): Promise<void> {
  const deliveryId = await sendTestEvent(pool, anyWallets(webhookId));
  const deadline = performance.now() + TEST_MS_MAX;
  let result = await selectLastResult(pool, deliveryId);
  while (result === undefined && performance.now() < deadline) {
    await delay(POLL_MS);
    result = await selectLastResult(pool, deliveryId);
  }
  if (result === undefined) {
    throw new CommandError('The test event was not sent yet: does the indexer run?');
  }
  const { status_code, error, response, duration_ms } = result;
  const answer = `${status_code ?? 'no answer'} after ${duration_ms ?? '?'} ms`;
  if (response) console.log(response);
  if (error !== null) throw new CommandError(`The test event failed: ${error}, ${answer}.`);
  console.error(`The test event was delivered: ${answer}.`);
}

const guardSchema = z.object({ SVC_ALLOW_LOOPBACK: booleanSetting.default(false) });

/**
 * Changes a webhook's url or its events, and makes it active.
 *
 * @throws CommandError for an address that the service would not call
 * @throws WebhookNotFoundError, DuplicateWebhookError
 */
export async function edit(
  pool: pg.Pool,
  webhookId: string,
  change: WebhookChange,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<void> {
  const { SVC_ALLOW_LOOPBACK: allowLoopback } = parseEnvironment(guardSchema, environment);
  if (change.url === undefined && change.events === undefined) {
    throw new CommandError('Give --url, --events or both.');
  }
  if (change.url !== undefined) {
    const url = new URL(change.url);
    await asCommandError(
      () => assertAddressAllowed(url, { allowLoopback, resolve: resolveName }),
      (error) => (error instanceof AddressRefusedError ? `The url ${error.message}.` : undefined),
    );
  }
  const events = change.events && [...new Set(change.events)];
  await editWebhook(pool, anyWallets(webhookId), { ...change, events });
  console.error(`The webhook ${webhookId} is changed, and active.`);
}

/**
 * Prints a new secret. Its sealing keys are those of the environment, or else that of the stack that
 * runs on this database in the current folder.
 *
 * @throws CommandError without the service's sealing keys
 */
export async function rotate(
  pool: pg.Pool,
  webhookId: string,
  databaseUrl: string,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<void> {
  const stack = readStackFile(STACK_FOLDER);
  const isOfStack = stack?.databaseUrl === databaseUrl && !namesSealing(environment);
  const settings = isOfStack ? { SVC_SECRETS_KEY: stack.secretsKey } : environment;
  const sealing = readSealing(settings);
  const secret = await asCommandError(
    () => rotateSecret(pool, sealing, anyWallets(webhookId)),
    (error) =>
      error instanceof SealingError
        ? `SVC_SECRETS_KEY is not the service's: ${error.message}.`
        : undefined,
  );
  console.log(secret);
  console.error('This secret is shown once. For 24 hours the old one signs beside it.');
}

/**
 * Seals every secret of webhooks, and that of requests, with SVC_SECRETS_KEY and prints their number.
 *
 * @throws CommandError without the service's sealing keys, and at the end when neither key opened
 *   some secret
 */
export async function reseal(
  pool: pg.Pool,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<void> {
  const { resealed, present, unreadableIds } = await resealSecrets(pool, readSealing(environment));
  console.error(`Resealed secrets: ${resealed}. Under SVC_SECRETS_KEY already: ${present}.`);
  if (unreadableIds.length === 0) return;
  throw new CommandError(
    'Neither SVC_SECRETS_KEY nor SVC_SECRETS_KEY_PREVIOUS opens a secret of these:\n' +
      unreadableIds.join('\n'),
  );
}

const namesSealing = (environment: NodeJS.ProcessEnv): boolean =>
  Object.entries(environment).some(([name, value]) => /^SVC_SECRETS_KEY/.test(name) && value);

/** @throws CommandError with the name of the key that is missing, malformed or a duplicate */
function readSealing(environment: NodeJS.ProcessEnv): Sealing {
  const keys = asCommandError(
    () => parseEnvironment(keysSchema, environment),
    (error) =>
      error instanceof ConfigError
        ? 'Set SVC_SECRETS_KEY, and SVC_SECRETS_KEY_PREVIOUS where they have one, as the indexer ' +
          `and the API have them. ${error.message}`
        : undefined,
  );
  return createSealing(keys.SVC_SECRETS_KEY, keys.SVC_SECRETS_KEY_PREVIOUS);
}
