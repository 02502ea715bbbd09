import type pg from 'pg';
import type { Registry } from 'prom-client';
import type { Logger } from '../../common/logger.ts';
import { listenAt } from '../../common/net/urls.ts';
import type { Rpc } from '../source/rpc.ts';
import type { LedgerSource } from '../source/source.ts';
import { passHint } from '../sql/notifications.ts';
import { createHistorySource } from './history.ts';
import { createHeliusMetrics } from './metrics.ts';
import { createHeliusWebhook, type HeliusWebhook } from './webhook.ts';
import { createWebhookServer } from './webhookServer.ts';

/** What of Helius is set up. */
export interface Helius {
  /** The given one, with Helius's history where there is a key. */
  readonly source: LedgerSource;
  readonly webhook: HeliusWebhook | null;
  close(): void;
}

/** @throws ConfigError when the webhook's endpoint cannot listen where it should */
export async function startHelius(options: {
  apiKey: string | undefined;
  webhook: { url: string | undefined; secret: string | undefined; host: string; port: number };
  programId: string;
  source: LedgerSource;
  rpc: Rpc;
  pool: pg.Pool;
  logger: Logger;
  registry: Registry;
}): Promise<Helius> {
  const { apiKey, programId, pool, logger, registry } = options;
  const { url, secret, host, port } = options.webhook;
  if (apiKey === undefined) return { source: options.source, webhook: null, close() {} };
  const metrics = createHeliusMetrics(registry);
  const source = createHistorySource({ ...options, metrics });
  if (url === undefined || secret === undefined) return { source, webhook: null, close() {} };
  const onHint = () => passHint(pool);
  const server = createWebhookServer({ secret, onHint, logger, metrics });
  const settings = { host: 'HELIUS_WEBHOOK_HOST', port: 'HELIUS_WEBHOOK_PORT' };
  const address = await listenAt(server, { host, port, settings });
  logger.info({ msg: 'Listened for the webhook of Helius', address });
  return {
    source,
    webhook: createHeliusWebhook({
      ...{ apiKey, url, secret, programId, logger, metrics },
      genesisHash: source.genesisHash,
      nowMs: () => performance.now(),
    }),
    close: () => void server.close(),
  };
}
