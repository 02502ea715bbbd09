import { PageHeader } from '../../design/page.tsx';
import { KeySection } from './keySection.tsx';
import { SessionsSection } from './sessionsSection.tsx';
import { ThresholdSection } from './thresholdSection.tsx';
import { WebhooksSection } from './webhooksSection.tsx';

export default function SettingsPage() {
  return (
    <>
      <PageHeader title="Settings" />
      <KeySection />
      <ThresholdSection />
      <WebhooksSection />
      <SessionsSection />
    </>
  );
}
