import { useRead } from '../../data/queries.ts';
import { Loading } from '../../design/notice.tsx';
import { PageHeader } from '../../design/page.tsx';
import { APP_PAGES } from '../../routes.ts';
import { KeySection } from './keySection.tsx';
import { SessionsSection } from './sessionsSection.tsx';
import { ThresholdSection } from './thresholdSection.tsx';
import { WebhooksSection } from './webhooksSection.tsx';

/** What stands above other sections: they are shown together, so that none moves the next. */
const READS = ['/key', '/threshold', '/webhooks'] as const;

export default function SettingsPage() {
  const isLoading = READS.map((path) => useRead(path).isLoading).includes(true);
  return (
    <>
      <PageHeader {...APP_PAGES['/console/settings'].head} />
      {isLoading ? (
        <Loading what="the settings" />
      ) : (
        <>
          <KeySection />
          <ThresholdSection />
          <WebhooksSection />
          <SessionsSection />
        </>
      )}
    </>
  );
}
