import type { Logger } from '../../common/logger.ts';
import { delay, type Time } from '../../common/wait.ts';
import { insertMinute } from '../sql/status.ts';
import { createPartReader, type PartServices } from './parts.ts';

const INTERVAL_MS = 60_000;

/**
 * Records once a minute which parts are away. The first time is a minute after the start, when the
 * parts are known. While the database is away nothing is recorded, and the gap says so.
 *
 * @returns `close` waits for what is being recorded
 */
export function recordReadiness(options: PartServices & { logger: Logger; time: Time }): {
  close(): Promise<void>;
} {
  const { database, logger, time } = options;
  const readParts = createPartReader(options);
  const closing = new AbortController();

  async function record(): Promise<void> {
    for (;;) {
      await delay(INTERVAL_MS, closing.signal, time);
      if (closing.signal.aborted) return;
      try {
        const { parts } = await readParts();
        const away = Object.entries(parts).filter(([, state]) => state === 'away');
        await insertMinute(
          database,
          away.map(([part]) => part),
        );
      } catch (error) {
        logger.warn({ msg: 'Failed to record which parts are away', err: error });
      }
    }
  }

  const recording = record();
  return {
    async close() {
      closing.abort();
      await recording;
    },
  };
}
