import { useRead } from '../../data/queries.ts';
import { Reading } from '../../design/notice.tsx';
import { PageHeader } from '../../design/page.tsx';
import { APP_PAGES } from '../../routes.ts';
import { DeliveriesSection } from './deliveriesSection.tsx';

export default function EventsPage() {
  const read = useRead('/webhooks');
  return (
    <>
      <PageHeader {...APP_PAGES['/console/settings/events'].head} />
      <Reading of={read} what="the webhooks" />
      {read.data && <DeliveriesSection webhooks={read.data.data} />}
    </>
  );
}
