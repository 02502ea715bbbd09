import { useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import type { ConsoleWebhook } from '../../../api/console/contracts/index.ts';
import { useRead } from '../../data/queries.ts';
import { call } from '../../data/request.ts';
import { useChange } from '../../data/useChange.ts';
import { Button } from '../../design/button.tsx';
import { Confirm } from '../../design/confirm.tsx';
import { Empty, ErrorNotice, Loading, Notice } from '../../design/notice.tsx';
import { Facts, PageHeader } from '../../design/page.tsx';
import { Time } from '../../design/time.tsx';
import { useFresh } from '../../session/session.tsx';
import { DeliveriesSection } from './deliveriesSection.tsx';
import { SecretOnce } from './secretOnce.tsx';
import { WebhookState } from './webhookValues.tsx';

const MONEY = 'The webhook is as it was. Credits are not affected.';

/** It fails, and is active again, without anybody at this page. */
const EVERY_MS = 5_000;

export default function WebhookPage() {
  const { webhook: id = '' } = useParams();
  const { data, error, refetch } = useRead('/webhooks', { everyMs: EVERY_MS });
  const webhook = data?.data.find((one) => one.id === id);
  if (webhook !== undefined) return <Content webhook={webhook} />;
  return (
    <>
      <PageHeader title="Webhook" />
      {error && <ErrorNotice error={error} money={MONEY} onRetry={() => void refetch()} />}
      {!data && !error && <Loading what="the webhook" />}
      {data && (
        <Empty title="There is no such webhook">
          <p>
            It was deleted, or belongs to another wallet.{' '}
            <Link href="/console/settings">All webhooks are in Settings.</Link>
          </p>
        </Empty>
      )}
    </>
  );
}

function Content({ webhook }: { readonly webhook: ConsoleWebhook }) {
  const [, navigate] = useLocation();
  const fresh = useFresh();
  const [asked, setAsked] = useState<'delete' | 'rotate'>();
  const [secret, setSecret] = useState<string>();
  const params = { webhook_id: webhook.id };
  const paths = ['/webhooks', '/webhooks/:webhook_id/deliveries'] as const;
  const enable = useChange(() => call('POST', '/webhooks/:webhook_id/enable', { params }), paths);
  const disable = useChange(() => call('POST', '/webhooks/:webhook_id/disable', { params }), paths);
  const test = useChange(() => call('POST', '/webhooks/:webhook_id/test', { params }), paths);
  const rotate = useChange(
    () => fresh('A new secret', () => call('POST', '/webhooks/:webhook_id/rotate', { params })),
    paths,
  );
  const remove = useChange(() => call('DELETE', '/webhooks/:webhook_id', { params }), paths);
  const failed = enable.error ?? disable.error ?? test.error;
  const isActive = webhook.status === 'active';
  return (
    <>
      <PageHeader title="Webhook" lead={<code>{webhook.url}</code>}>
        <Button pending={test.isPending && 'Sending…'} onClick={() => test.mutate(undefined)}>
          Send a test
        </Button>
        <Button
          pending={(enable.isPending || disable.isPending) && 'One moment…'}
          onClick={() => (isActive ? disable : enable).mutate(undefined)}
        >
          {isActive ? 'Disable' : 'Enable'}
        </Button>
        <Button onClick={() => setAsked('rotate')}>New secret…</Button>
        <Button kind="danger" onClick={() => setAsked('delete')}>
          Delete…
        </Button>
      </PageHeader>
      {failed && <ErrorNotice error={failed} money={MONEY} />}
      {webhook.status === 'failed' && (
        <Notice tone="bad">
          <p>It failed five times for one event, and gets nothing at present.</p>
          <p>Events are kept for 30 days. Mend the endpoint, enable it, and recover below.</p>
        </Notice>
      )}
      <Facts
        entries={[
          ['State', <WebhookState key="state" status={webhook.status} />],
          ['Events', webhook.events.join(', ')],
          ['Id', <code key="id">{webhook.id}</code>],
          ['Created', <Time key="time" time={webhook.created_at} />],
          webhook.previous_secret_until !== null && [
            'Two secrets sign until',
            <Time key="until" time={webhook.previous_secret_until} />,
          ],
        ]}
      />
      <DeliveriesSection webhook={webhook} />
      {asked === 'rotate' && (
        <Confirm
          title="New secret"
          action="Make it"
          money={MONEY}
          onClose={() => setAsked(undefined)}
          onConfirm={async () => setSecret((await rotate.mutateAsync(undefined)).secret)}
        >
          <p>For 24 hours the old secret signs beside it, so that you can change your receiver.</p>
        </Confirm>
      )}
      {asked === 'delete' && (
        <Confirm
          title="Delete the webhook"
          action="Delete it"
          money={MONEY}
          onClose={() => setAsked(undefined)}
          onConfirm={async () => {
            await remove.mutateAsync(undefined);
            navigate('/console/settings');
          }}
        >
          <p>Its deliveries are deleted with it. This cannot be taken back.</p>
        </Confirm>
      )}
      {secret !== undefined && (
        <SecretOnce
          title="The webhook's new secret"
          secret={secret}
          onClose={() => {
            setSecret(undefined);
            rotate.reset();
          }}
        />
      )}
    </>
  );
}
