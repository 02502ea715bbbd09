import type pg from 'pg';
import type { Logger } from '../../runtime/logger.ts';
import type { IndexerMetrics } from '../metrics.ts';
import type { LogHints } from '../source/logHints.ts';
import type { WakeUp } from '../source/wakeUp.ts';
import { selectCursor } from '../statements/cursors.ts';
import type { Announcing } from '../webhooks/announce/announcer.ts';
import { movePosition } from '../webhooks/announce/position.ts';
import { resumeAnnouncing } from '../webhooks/announce/resume.ts';
import { bindLedger } from './bindLedger.ts';
import type { MirrorContext } from './context.ts';
import { fillGaps } from './fillGaps.ts';
import { finalize } from './finalize.ts';
import type { Progress } from './progress.ts';
import { sweep } from './sweep.ts';

/** Without any hint, the mirror is this far behind at most, and a sweep. */
const SWEEP_INTERVAL_MS = 500;
/** Finality comes seconds after confirmation, so looking for it more often shows nothing new. */
const SETTLE_INTERVAL_MS = 2_000;

/**
 * Sweeps at every hint, and without one every half second, until `signal` aborts. Hints come from
 * the ledger's stream and from whoever notifies `ledger_hint` after a confirmation.
 *
 * Begins with what is final, which for a first sync is nearly everything: so each transaction is
 * listed and stored once.
 *
 * @throws FatalError when the database holds the mirror of another ledger
 */
export async function keepMirror(options: {
  client: pg.PoolClient;
  context: Pick<MirrorContext, 'source' | 'addresses' | 'commitment'>;
  wakeUp: WakeUp;
  hints: LogHints;
  signal: AbortSignal;
  logger: Logger;
  metrics: IndexerMetrics;
  progress: Progress;
  announcing: Announcing;
}): Promise<void> {
  const { client, wakeUp, hints, signal, logger, metrics, progress, announcing } = options;
  const { source } = options.context;
  await bindLedger({ ...options.context, database: client });
  const announcer = await resumeAnnouncing({
    ...{ announcing, database: client },
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

  client.on('notification', wakeUp.wake);
  await client.query('listen ledger_hint');
  await settle();
  let settledAtMs = performance.now();
  while (!signal.aborted) {
    const complete = progress.beginSweep();
    if ((await sweep(context)) > 0) hints.found();
    complete();
    const sweptSlot = await selectCursor(client, 'confirmed');
    await movePosition(client, sweptSlot);
    metrics.swept(sweptSlot);
    if (performance.now() - settledAtMs >= SETTLE_INTERVAL_MS) {
      await settle();
      settledAtMs = performance.now();
    }
    await wakeUp.wait(SWEEP_INTERVAL_MS, signal);
  }
}
