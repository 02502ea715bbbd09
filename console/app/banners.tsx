import { useQueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { Link } from 'wouter';
import { POLL_MS, readAgain, useRead } from '../data/queries.ts';
import { useNews } from '../data/tabs.ts';
import { shorten } from '../design/formats.ts';
import { Notice, Reading } from '../design/notice.tsx';
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

/** Jobs and credits come from the mirror, which stands still while its indexer is away. */
function MirrorNotice() {
  const { data } = useRead('/status', { everyMs: POLL_MS.sums });
  if (data?.parts.mirror !== 'away') return null;
  return (
    <Notice tone="warn">
      <p>The service's mirror of the ledger is behind. Jobs and credits shown here are old.</p>
      <p>
        They are safe on the ledger, and shown once the mirror has them.{' '}
        <Link href="/console/status">Status</Link>
      </p>
    </Notice>
  );
}

/** Notices above every page. */
export function Banners() {
  const isOnline = useSyncExternalStore(subscribe, () => navigator.onLine);
  const { session } = useSession();
  const config = useRead('/config');
  const connection = useConnection();
  const isOther = session && connection && connection.account.address !== session.wallet;
  const client = useQueryClient();
  useNews<EndedTransaction>((news) => {
    if (news.kind !== 'ended') return;
    noteEnded(news.transaction);
    void readAgain(client);
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
      {isOnline && config.error && <Reading of={config} what="what this service is" />}
      {session && <MirrorNotice />}
      {isOther && (
        <Notice tone="warn">
          <p>
            Your wallet shows {shorten(connection.account.address)}, and you are signed in as{' '}
            {shorten(session.wallet)}.
          </p>
          <p>Switch back in the wallet, or sign in again. Until then nothing is signed.</p>
        </Notice>
      )}
    </div>
  );
}
