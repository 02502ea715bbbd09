import { useEffect, useRef } from 'react';

/** What a tab of this browser tells the others. No key, prompt or answer. */
type News<Ended> =
  /** A wallet signed in. The others read for themselves which one. */
  | { readonly kind: 'signed in' }
  | { readonly kind: 'signed out' }
  /** What was read under these paths is old. */
  | { readonly kind: 'changed'; readonly paths: readonly string[] }
  /** It is certain what became of a transaction. */
  | { readonly kind: 'ended'; readonly transaction: Ended };

let channel: BroadcastChannel | undefined;

/** Opened by the first who needs it: Verify has nobody to tell. */
const open = () => (channel ??= new BroadcastChannel('svc.tabs'));

export function tellTabs<Ended = never>(news: News<Ended>): void {
  open().postMessage(news);
}

/** Hears what other tabs tell, for as long as the caller is drawn. */
export function useNews<Ended = never>(listener: (news: News<Ended>) => void): void {
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => {
    const hear = ({ data }: MessageEvent<News<Ended>>) => latest.current(data);
    const opened = open();
    opened.addEventListener('message', hear);
    return () => opened.removeEventListener('message', hear);
  }, []);
}
