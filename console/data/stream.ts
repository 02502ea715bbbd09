import type { StreamChanges } from '../../api/contracts/index.ts';
import { API } from './request.ts';

/** What the stream of a wallet reports. */
interface StreamListener {
  readonly onChanges: (changes: StreamChanges) => void;
  /** What was shown may be old: it is to be read again. */
  readonly onReset: () => void;
  /** The stream was refused, as it is when the session is over. */
  readonly onEnd: () => void;
}

type Message = { readonly kind: 'changes'; readonly changes: StreamChanges } | { kind: 'reset' };

const AGAIN_MS = 30_000;

/**
 * Listens to the changes of the wallet. However many tabs do, one of them holds the connection and
 * passes each change on; when it is closed, another one takes its place.
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
  const passOn = (message: Message): void => {
    take(message);
    channel.postMessage(message);
  };
  channel.onmessage = ({ data }: MessageEvent<Message>) => take(data);
  /** @param onRefused called once it does not connect again by itself. @returns ends it */
  const connect = (onRefused: () => void): (() => void) => {
    const source = new EventSource(`${API}/stream`);
    // It begins with the balance. Between two holders more may have been missed, so that all is read
    // again then, and the balance with it.
    let hasBegun = false;
    source.addEventListener('changes', ({ data }) => {
      passOn(hasBegun ? { kind: 'changes', changes: JSON.parse(data) } : { kind: 'reset' });
      hasBegun = true;
    });
    source.addEventListener('reset', () => passOn({ kind: 'reset' }));
    source.addEventListener('error', () => {
      if (source.readyState === EventSource.CLOSED) onRefused();
    });
    return () => source.close();
  };
  const hold = () =>
    new Promise<void>((resolve) => {
      // The lock may have been granted just before this stream ended.
      if (abort.signal.aborted) return resolve();
      let close: () => void;
      const begin = (): void => {
        close = connect(() => {
          listener.onEnd();
          // Where there were too many streams, there is room again in a while.
          const timer = setTimeout(begin, AGAIN_MS);
          close = () => clearTimeout(timer);
        });
      };
      begin();
      abort.signal.addEventListener('abort', () => {
        close();
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
