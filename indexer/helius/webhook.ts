import { once } from 'node:events';
import { makeWebhookClient } from 'helius-sdk/webhooks/client';
import type { Logger } from '../../common/logger.ts';
import { createSilence, createWakeUp } from '../source/hints.ts';
import { ensureWebhook, type WantedWebhook, type WebhookCheck } from './ensureWebhook.ts';
import type { HeliusMetrics } from './metrics.ts';

/** The webhook at Helius, which the process that keeps the mirror keeps up. */
export interface HeliusWebhook {
  /** To be told of each of its hints. */
  announced(): void;
  /** To be told when a sweep found something, of which there should have been a hint. */
  found(): void;
  /** Checks it now, on a schedule, and when it is silent, until `signal` aborts. Never fails. */
  run(signal: AbortSignal): Promise<void>;
}

/** Without the webhook nothing is lost, and each correction costs credits. */
const CHECK_INTERVAL_MS = 600_000;
/** One that is silent though it is as wanted has a cause that making it anew seldom mends. */
const REPLACE_INTERVAL_MS = 3_600_000;
const CHECK_MS_MAX = 30_000;
const BACKOFF_MS_MIN = 1_000;
const BACKOFF_MS_MAX = 300_000;
/** What Helius says about a refusal may be a page of HTML. */
const REASON_CHARACTERS_MAX = 300;

const DEVNET_GENESIS_HASH = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG';

/**
 * @param options.secret what Helius sends as the whole Authorization header
 * @param options.genesisHash tells whether the ledger is Helius's mainnet or devnet
 */
export function createHeliusWebhook(options: {
  apiKey: string;
  url: string;
  secret: string;
  programId: string;
  genesisHash: () => Promise<string>;
  logger: Logger;
  metrics: HeliusMetrics;
  nowMs: () => number;
}): HeliusWebhook {
  const { apiKey, url, secret, programId, genesisHash, logger, metrics, nowMs } = options;
  const helius = makeWebhookClient(apiKey);
  const silence = createSilence(nowMs);
  const wakeUp = createWakeUp();
  let isSilent = false;
  let replacedMs = Number.NEGATIVE_INFINITY;

  async function check(): Promise<WebhookCheck> {
    const result = await ensureWebhook(helius, await want(), {
      isSilent: isSilent && nowMs() - replacedMs >= REPLACE_INTERVAL_MS,
    });
    isSilent = false;
    if (result === 'replaced') replacedMs = nowMs();
    return result;
  }

  async function want(): Promise<WantedWebhook> {
    return {
      webhookURL: url,
      webhookType: (await genesisHash()) === DEVNET_GENESIS_HASH ? 'rawDevnet' : 'raw',
      authHeader: secret,
      accountAddresses: [programId],
      transactionTypes: ['ANY'],
      // A failed transaction changed nothing, and anybody can send any number of them.
      txnStatus: 'success',
    };
  }

  /** What the client says may quote what was sent to Helius. */
  function reasonOf(error: unknown): string {
    const { message } = error as Error;
    const reason = message.replaceAll(apiKey, '[redacted]').replaceAll(secret, '[redacted]');
    return reason.slice(0, REASON_CHARACTERS_MAX);
  }

  return {
    announced: silence.announced,
    found() {
      if (!silence.found()) return;
      logger.warn({ msg: 'The webhook at Helius had not announced what a sweep found' });
      isSilent = true;
      wakeUp.wake();
    },
    async run(signal) {
      let backoffMs = BACKOFF_MS_MIN;
      while (!signal.aborted) {
        try {
          const result = await inTime(check(), signal);
          metrics.checked(result);
          if (result !== 'kept') logger.info({ msg: 'Mended the webhook at Helius', result });
          backoffMs = BACKOFF_MS_MIN;
          await wakeUp.wait(CHECK_INTERVAL_MS, signal);
        } catch (error) {
          if (signal.aborted) return;
          metrics.checked('failed');
          const reason = reasonOf(error);
          logger.warn({ msg: 'Failed to check the webhook at Helius', reason, backoffMs });
          await wakeUp.wait(backoffMs, signal);
          backoffMs = Math.min(backoffMs * 2, BACKOFF_MS_MAX);
        }
      }
    },
  };
}

/** Helius's client waits for ever. */
async function inTime<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const end = AbortSignal.any([signal, AbortSignal.timeout(CHECK_MS_MAX)]);
  const ended = once(end, 'abort').then(() => {
    throw new Error('Helius did not answer in time');
  });
  return Promise.race([work, ended]);
}
