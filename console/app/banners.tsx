import { useQueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { useNews } from '../data/tabs.ts';
import { shorten } from '../design/address.tsx';
import { Notice } from '../design/notice.tsx';
import { onUse } from '../design/onUse.tsx';
import { type EndedTransaction, noteEnded, useEnded, usePending } from '../ledger/pending.ts';
import { useSession } from '../session/session.tsx';
import { useConnection } from '../wallet/wallets.ts';
import styles from './banners.module.css';

const PendingBanner = onUse(() => import('../ledger/pendingBanner.tsx'));

function subscribe(listener: () => void): () => void {
  window.addEventListener('online', listener);
  window.addEventListener('offline', listener);
  return () => {
    window.removeEventListener('online', listener);
    window.removeEventListener('offline', listener);
  };
}

/** What is true of every page at present, above all of them. */
export function Banners() {
  const isOnline = useSyncExternalStore(subscribe, () => navigator.onLine);
  const { session } = useSession();
  const connection = useConnection();
  const isOther = session && connection && connection.account.address !== session.wallet;
  const client = useQueryClient();
  useNews<EndedTransaction>((news) => {
    if (news.kind !== 'ended') return;
    noteEnded(news.transaction);
    void client.invalidateQueries();
  });
  const sent = usePending().length + useEnded().length;
  return (
    <div className={styles.banners}>
      {sent > 0 && <PendingBanner />}
      {!isOnline && (
        <Notice tone="warn">
          <p>You are offline. What you see may be old; what you entered stays.</p>
          <p>Nothing is sent or signed until you are back.</p>
        </Notice>
      )}
      {isOther && (
        <Notice tone="warn">
          <p>
            Your wallet shows {shorten(connection.account.address)}, and you are signed in as{' '}
            {shorten(session.wallet)}.
          </p>
          <p>Switch back in the wallet, or sign in again. Nothing is signed meanwhile.</p>
        </Notice>
      )}
    </div>
  );
}
