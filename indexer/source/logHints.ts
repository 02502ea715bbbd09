import type { Connection, PublicKey } from '@solana/web3.js';
import type { Logger } from '../../runtime/logger.ts';
import type { Commitment } from './source.ts';

/** The ledger's own announcements of the program's transactions, over its websocket. */
export interface LogHints {
  /** To be told when a sweep found something: a stream that did not announce it may be dead. */
  found(): void;
  close(): Promise<void>;
}

/** How long announcements may be missing before the stream is opened anew. */
const SILENCE_MS_MAX = 60_000;

/**
 * A hint only says that there may be something to sweep, so nothing is lost with the stream but a
 * fraction of a second.
 */
export function createLogHints(options: {
  connection: Connection;
  programId: PublicKey;
  commitment: Commitment;
  logger: Logger;
  onHint: () => void;
}): LogHints {
  const { connection, programId, commitment, logger, onHint } = options;
  let unannouncedSinceMs: number | undefined;

  function subscribe(): number {
    return connection.onLogs(
      programId,
      () => {
        unannouncedSinceMs = undefined;
        onHint();
      },
      commitment,
    );
  }

  let subscription = subscribe();
  return {
    found() {
      const now = performance.now();
      unannouncedSinceMs ??= now;
      if (now - unannouncedSinceMs < SILENCE_MS_MAX) return;
      logger.warn({ msg: 'Found transactions that the stream had not announced; reopened it' });
      unannouncedSinceMs = undefined;
      void connection.removeOnLogsListener(subscription);
      subscription = subscribe();
    },
    close: () => connection.removeOnLogsListener(subscription),
  };
}
