import { useEffect, useEffectEvent } from 'react';

/** What a tab of this browser sends to the others. No key, prompt or answer. */
type News<Ended> =
  /** A wallet signed in. The others read for themselves which one. */
  | { readonly kind: 'signed in' }
  | { readonly kind: 'signed out' }
  /** What was read under these paths is old. */
  | { readonly kind: 'changed'; readonly paths: readonly string[] }
  /** It is certain what became of a transaction. */
  | { readonly kind: 'ended'; readonly transaction: Ended };

let channel: BroadcastChannel | undefined;

/** Opened on first use: Verify, which has an origin of its own, uses none. */
const open = () => (channel ??= new BroadcastChannel('svc.tabs'));

export function notifyTabs<Ended = never>(news: News<Ended>): void {
  open().postMessage(news);
}

/** Listens to what other tabs send, for as long as the caller is drawn. */
export function useNews<Ended = never>(listener: (news: News<Ended>) => void): void {
  const onNews = useEffectEvent(listener);
  useEffect(() => {
    const receive = ({ data }: MessageEvent<News<Ended>>) => onNews(data);
    const opened = open();
    opened.addEventListener('message', receive);
    return () => opened.removeEventListener('message', receive);
  }, []);
}
