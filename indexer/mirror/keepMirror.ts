import type pg from 'pg';
import type { Logger } from '../../runtime/logger.ts';
import type { IndexerMetrics } from '../metrics.ts';
import type { LogHints } from '../source/logHints.ts';
import type { WakeUp } from '../source/wakeUp.ts';
import { selectCursor } from '../statements/cursors.ts';
import type { MirrorContext } from './context.ts';
import { fillGaps } from './fillGaps.ts';
import { finalize } from './finalize.ts';
import { sweep } from './sweep.ts';

/** Without any hint, the mirror is this far behind at most, and a sweep. */
const SWEEP_INTERVAL_MS = 500;
/** Finality comes seconds after confirmation, so looking for it more often shows nothing new. */
const SETTLE_INTERVAL_MS = 2_000;

/**
 * Sweeps at every hint, and without one every half second, until `signal` aborts. Hints come from
 * the ledger's stream and from whoever notifies `ledger_hint` after a confirmation.
 */
export async function keepMirror(options: {
  client: pg.PoolClient;
  context: Pick<MirrorContext, 'source' | 'addresses' | 'commitment'>;
  wakeUp: WakeUp;
  hints: LogHints;
  signal: AbortSignal;
  logger: Logger;
  metrics: IndexerMetrics;
  onSwept: () => void;
}): Promise<void> {
  const { client, wakeUp, hints, signal, logger, metrics, onSwept } = options;
  const context: MirrorContext = {
    ...options.context,
    database: client,
    signal,
    onFolded: metrics.folded,
  };
  client.on('notification', wakeUp.wake);
  await client.query('listen ledger_hint');
  let settledAtMs = performance.now();
  while (!signal.aborted) {
    if ((await sweep(context)) > 0) hints.found();
    metrics.swept(await selectCursor(client, 'confirmed'));
    onSwept();
    if (performance.now() - settledAtMs >= SETTLE_INTERVAL_MS) {
      metrics.gaps((await fillGaps(context)).length);
      const lost = await finalize(context);
      metrics.rolledBack(lost.length);
      for (const signature of lost) logger.warn({ msg: 'Took back a lost transaction', signature });
      settledAtMs = performance.now();
    }
    await wakeUp.wait(SWEEP_INTERVAL_MS, signal);
  }
}
