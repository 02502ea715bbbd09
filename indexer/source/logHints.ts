import type { PublicKey } from '@solana/web3.js';
import type { Logger } from '../../common/logger.ts';
import { createSilence } from './silence.ts';
import type { Commitment, ListedTransaction } from './source.ts';

/** The ledger's own announcements of the program's transactions, over its websocket. */
export interface LogHints {
  /** To be told when a sweep found something: a stream that did not announce it may be dead. */
  found(): void;
  close(): void;
}

const REOPEN_MS = 1_000;

/** As much of a message of the ledger's as is read here. */
interface LogsMessage {
  readonly method?: unknown;
  readonly params?: {
    readonly result: {
      readonly context: { readonly slot: number };
      readonly value: { readonly signature: string; readonly err: unknown };
    };
  };
}

/**
 * A hint only says what there may be to read, so nothing is lost with the stream but a fraction of a
 * second. Hence no error here is worth more than opening it again.
 *
 * @param options.onHint told of each transaction; of none when the stream says something else
 */
export function createLogHints(options: {
  url: string;
  programId: PublicKey;
  commitment: Commitment;
  logger: Logger;
  onHint: (transaction?: ListedTransaction) => void;
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
    opened.onmessage = ({ data }) => {
      silence.announced();
      onHint(namedIn(String(data)));
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

/** The transaction that a message is about; undefined for any other message. */
function namedIn(text: string): ListedTransaction | undefined {
  const { method, params } = JSON.parse(text) as LogsMessage;
  if (method !== 'logsNotification' || !params) return undefined;
  const { context, value } = params.result;
  return { signature: value.signature, slot: BigInt(context.slot), failed: value.err !== null };
}
