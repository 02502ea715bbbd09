import type { StreamChanges } from '../../api/console/contracts/index.ts';
import { API } from './request.ts';

/** What the stream of a wallet tells. */
interface StreamListener {
  readonly onChanges: (changes: StreamChanges) => void;
  /** What was shown may be old: it is to be read anew. */
  readonly onReset: () => void;
  /** The stream ended for good, as it does with the session. */
  readonly onEnd: () => void;
}

type Message = { readonly kind: 'changes'; readonly changes: StreamChanges } | { kind: 'reset' };

/**
 * Listens to the changes of the wallet. However many tabs do, one of them holds the connection and
 * tells the others; when it is closed, another one takes its place.
 *
 * @returns ends it
 */
export function openStream(wallet: string, listener: StreamListener): () => void {
  const channel = new BroadcastChannel(`svc.stream.${wallet}`);
  const abort = new AbortController();
  const take = (message: Message): void => {
    if (message.kind === 'changes') listener.onChanges(message.changes);
    else listener.onReset();
  };
  const tell = (message: Message): void => {
    take(message);
    channel.postMessage(message);
  };
  channel.onmessage = ({ data }: MessageEvent<Message>) => take(data);
  const hold = () =>
    new Promise<void>((resolve) => {
      // The lock may have been granted just before this stream ended.
      if (abort.signal.aborted) return resolve();
      const source = new EventSource(`${API}/stream`);
      // It begins with the balance. Between two holders more may have been missed, so that all is read
      // anew then, and the balance with it.
      let hasBegun = false;
      source.addEventListener('changes', ({ data }) => {
        tell(hasBegun ? { kind: 'changes', changes: JSON.parse(data) } : { kind: 'reset' });
        hasBegun = true;
      });
      source.addEventListener('reset', () => tell({ kind: 'reset' }));
      source.addEventListener('error', () => {
        // It connects again by itself unless it was refused.
        if (source.readyState === EventSource.CLOSED) listener.onEnd();
      });
      abort.signal.addEventListener('abort', () => {
        source.close();
        resolve();
      });
    });
  navigator.locks
    .request(`svc.stream.${wallet}`, { signal: abort.signal }, hold)
    .catch((error: Error) => {
      if (error.name !== 'AbortError') throw error;
    });
  return () => {
    abort.abort();
    channel.close();
  };
}
