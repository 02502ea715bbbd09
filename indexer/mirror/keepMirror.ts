import type pg from 'pg';
import type { Logger } from '../../common/logger.ts';
import { RetryableError } from '../source/errors.ts';
import type { LedgerHints, LogSubscription } from '../source/hints.ts';
import type { ListedTransaction } from '../source/source.ts';
import { selectCursor } from '../sql/progress.ts';
import { serveMirror } from '../sql/schema.ts';
import type { IndexerMetrics } from '../telemetry/metrics.ts';
import {
  movePosition,
  type OutboxSettings,
  resumeOutbox,
} from '../webhooks/announce/webhookOutbox.ts';
import { bindLedger } from './bindLedger.ts';
import { finalize } from './finalize.ts';
import type { MirrorContext, Progress } from './progress.ts';
import { applyNew, fillGaps, sweep } from './sweep.ts';

/** Without any hint, the mirror is behind by this and the time of a sweep at most. */
const SWEEP_INTERVAL_MS = 1_000;

/**
 * Keeps the mirror until `signal` aborts. It applies what the ledger's stream names at once. It
 * sweeps every second, and at a hint that names nothing. The sweep is the authority: it finds what
 * the stream leaves out, or names before a node shows it.
 *
 * Begins with what is final, which for a first sync is nearly everything. So each transaction is
 * listed and stored once.
 *
 * @throws FatalError when the database holds the mirror of another ledger
 */
export async function keepMirror(options: {
  client: pg.PoolClient;
  context: Pick<MirrorContext, 'source' | 'addresses' | 'commitment'>;
  hints: LedgerHints;
  subscription: LogSubscription;
  signal: AbortSignal;
  logger: Logger;
  metrics: IndexerMetrics;
  progress: Progress;
  outboxSettings: OutboxSettings;
  settleIntervalMs: number;
}): Promise<void> {
  const { client, hints, subscription, signal, metrics, progress, outboxSettings } = options;
  const { source } = options.context;
  await bindLedger({ ...options.context, database: client });
  const outbox = await resumeOutbox({
    outboxSettings,
    database: client,
    sweptSlot: await selectCursor(client, 'confirmed'),
    ledgerSlot: () => source.slot('finalized'),
  });
  const context: MirrorContext = {
    ...options.context,
    database: client,
    outbox,
    signal,
    onFolded: (events) => {
      metrics.folded(events);
      hints.stored(events.map(({ signature }) => signature));
    },
  };

  client.on('notification', ({ channel, payload }) => {
    if (channel === 'ledger_hint') hints.hint(payload);
  });
  await client.query('listen ledger_hint');
  await settle(context, options);
  let settledAtMs = performance.now();
  let sweepAtMs = settledAtMs;
  let isServed = false;
  while (!signal.aborted) {
    const taken = hints.take();
    const isApplied = taken.named.length === 0 || (await applyNamed(context, taken.named));
    const leftMs = sweepAtMs - performance.now();
    if (isApplied && !taken.isMore && leftMs > 0) {
      await hints.wait(leftMs, signal);
      continue;
    }
    sweepAtMs = performance.now() + SWEEP_INTERVAL_MS;
    const complete = progress.beginSweep();
    if ((await sweep(context)) > 0) subscription.found();
    if (!isServed) await serveMirror(client);
    isServed = true;
    complete();
    const sweptSlot = await selectCursor(client, 'confirmed');
    await movePosition(client, sweptSlot);
    metrics.swept(sweptSlot);
    if (performance.now() - settledAtMs >= options.settleIntervalMs) {
      await settle(context, options);
      settledAtMs = performance.now();
    }
  }
}

/** Fills gaps, stores what is final, and reverts what the ledger lost. */
async function settle(
  context: MirrorContext,
  { logger, metrics, hints }: { logger: Logger; metrics: IndexerMetrics; hints: LedgerHints },
): Promise<void> {
  metrics.gaps((await fillGaps(context)).length);
  const lost = await finalize(context);
  metrics.reverted(lost.length);
  for (const signature of lost) {
    hints.lost(signature);
    logger.warn({ msg: 'Reverted a lost transaction', signature });
  }
}

/** @returns whether all of it is in the mirror now; the sweep then decides about the rest */
async function applyNamed(
  context: MirrorContext,
  named: readonly ListedTransaction[],
): Promise<boolean> {
  try {
    await applyNew(
      context,
      named.filter(({ failed }) => !failed),
    );
    return true;
  } catch (error) {
    // Another node may show it, or may list it later.
    if (error instanceof RetryableError) return false;
    throw error;
  }
}
