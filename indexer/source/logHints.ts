import type { PublicKey } from '@solana/web3.js';
import type { Logger } from '../../runtime/logger.ts';
import { createSilence } from './silence.ts';
import type { Commitment } from './source.ts';

/** The ledger's own announcements of the program's transactions, over its websocket. */
export interface LogHints {
  /** To be told when a sweep found something: a stream that did not announce it may be dead. */
  found(): void;
  close(): void;
}

const REOPEN_MS = 1_000;

/**
 * A hint only says that there may be something to sweep, so nothing is lost with the stream but a
 * fraction of a second. Hence no error here is worth more than opening it again.
 */
export function createLogHints(options: {
  url: string;
  programId: PublicKey;
  commitment: Commitment;
  logger: Logger;
  onHint: () => void;
}): LogHints {
  const { url, programId, commitment, logger, onHint } = options;
  const subscription = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'logsSubscribe',
    params: [{ mentions: [programId.toBase58()] }, { commitment }],
  });
  const silence = createSilence(() => performance.now());
  let timer: NodeJS.Timeout | undefined;
  let socket = open();

  function open(): WebSocket {
    const opened = new WebSocket(url);
    opened.onopen = () => opened.send(subscription);
    opened.onmessage = () => {
      silence.announced();
      onHint();
    };
    opened.onclose = reopen;
    return opened;
  }

  /** Sweeps find something also while the stream is down: one that is to be opened is enough. */
  function reopen(): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      socket = open();
    }, REOPEN_MS);
  }

  function abandon(): void {
    socket.onmessage = null;
    socket.onclose = null;
    socket.close();
  }

  return {
    found() {
      if (!silence.found()) return;
      logger.warn({ msg: 'Reopened a stream that had not announced what a sweep found' });
      abandon();
      reopen();
    },
    close() {
      clearTimeout(timer);
      abandon();
    },
  };
}
