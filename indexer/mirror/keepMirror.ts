import type pg from 'pg';
import type { Logger } from '../../common/logger.ts';
import { RetryableError } from '../source/errors.ts';
import type { Announcements, LogHints } from '../source/hints.ts';
import { selectCursor } from '../sql/progress.ts';
import type { IndexerMetrics } from '../telemetry/metrics.ts';
import { type Announcing, resumeAnnouncing } from '../webhooks/announce/announcer.ts';
import { movePosition } from '../webhooks/announce/occurrence.ts';
import { bindLedger } from './bindLedger.ts';
import { finalize } from './finalize.ts';
import type { MirrorContext, Progress } from './progress.ts';
import { applyNew, fillGaps, sweep } from './sweep.ts';

/** Without any hint, the mirror is this far behind at most, and a sweep. */
const SWEEP_INTERVAL_MS = 1_000;

/**
 * Applies what the ledger's stream names as it comes, and sweeps every second, or at once at a
 * hint that names nothing, until `signal` aborts. The sweep is the authority: what the stream leaves
 * out, or names before it can be read, it finds.
 *
 * Begins with what is final, which for a first sync is nearly everything: so each transaction is
 * listed and stored once.
 *
 * @throws FatalError when the database holds the mirror of another ledger
 */
export async function keepMirror(options: {
  client: pg.PoolClient;
  context: Pick<MirrorContext, 'source' | 'addresses' | 'commitment'>;
  announcements: Announcements;
  hints: LogHints;
  signal: AbortSignal;
  logger: Logger;
  metrics: IndexerMetrics;
  progress: Progress;
  announcing: Announcing;
  settleIntervalMs: number;
}): Promise<void> {
  const { client, announcements, hints, signal, logger, metrics, progress, announcing } = options;
  const { source } = options.context;
  await bindLedger({ ...options.context, database: client });
  const announcer = await resumeAnnouncing({
    announcing,
    database: client,
    sweptSlot: await selectCursor(client, 'confirmed'),
    ledgerSlot: () => source.slot('finalized'),
  });
  const context: MirrorContext = {
    ...options.context,
    database: client,
    announcer,
    signal,
    onFolded: metrics.folded,
  };

  async function settle(): Promise<void> {
    metrics.gaps((await fillGaps(context)).length);
    const lost = await finalize(context);
    metrics.rolledBack(lost.length);
    for (const signature of lost) logger.warn({ msg: 'Took back a lost transaction', signature });
  }

  /** @returns whether all of it is in the mirror now */
  async function applyNamed({ named }: ReturnType<Announcements['take']>): Promise<boolean> {
    try {
      await applyNew(
        context,
        named.filter(({ failed }) => !failed),
      );
      return true;
    } catch (error) {
      // Another node may show it, or may list it later: a sweep tells, and whether all else is well.
      if (error instanceof RetryableError) return false;
      throw error;
    }
  }

  client.on('notification', ({ channel, payload }) => {
    if (channel === 'ledger_hint') announcements.hint(payload);
  });
  await client.query('listen ledger_hint');
  await settle();
  let settledAtMs = performance.now();
  let sweepAtMs = settledAtMs;
  while (!signal.aborted) {
    const announced = announcements.take();
    const isApplied = announced.named.length === 0 || (await applyNamed(announced));
    const leftMs = sweepAtMs - performance.now();
    if (isApplied && !announced.isMore && leftMs > 0) {
      await announcements.wait(leftMs, signal);
      continue;
    }
    sweepAtMs = performance.now() + SWEEP_INTERVAL_MS;
    const complete = progress.beginSweep();
    if ((await sweep(context)) > 0) hints.found();
    complete();
    const sweptSlot = await selectCursor(client, 'confirmed');
    await movePosition(client, sweptSlot);
    metrics.swept(sweptSlot);
    if (performance.now() - settledAtMs >= options.settleIntervalMs) {
      await settle();
      settledAtMs = performance.now();
    }
  }
}
