import { useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import type { ConsoleWebhook } from '../../../api/contracts/index.ts';
import { POLL_MS, useRead } from '../../data/queries.ts';
import { call } from '../../data/request.ts';
import { useChange } from '../../data/useChange.ts';
import { Button } from '../../design/button.tsx';
import { Confirm } from '../../design/confirm.tsx';
import { Empty, ErrorNotice, Notice, Reading } from '../../design/notice.tsx';
import { Facts, PageHeader } from '../../design/page.tsx';
import { Time } from '../../design/time.tsx';
import { useFresh } from '../../session/session.tsx';
import { DeliveriesSection } from './deliveriesSection.tsx';
import { MISSING } from './deliveryFilters.tsx';
import { SecretOnce } from './secretOnce.tsx';
import { EditWebhook } from './webhookDialogs.tsx';
import { healthOf, WebhookState } from './webhookValues.tsx';

const MONEY = 'The webhook is as it was. Credits are not affected.';

const ACTIONS = {
  enable: '/webhooks/:webhook_id/enable',
  disable: '/webhooks/:webhook_id/disable',
  test: '/webhooks/:webhook_id/test',
} as const;

export default function WebhookPage() {
  const { webhook: id = '' } = useParams();
  const read = useRead('/webhooks', { everyMs: POLL_MS.changes });
  const { data } = read;
  const webhook = data?.data.find((one) => one.id === id);
  if (webhook !== undefined) return <Content webhook={webhook} />;
  return (
    <>
      <PageHeader title="Webhook" />
      <Reading of={read} what="the webhook" />
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

function Content({ webhook }: { webhook: ConsoleWebhook }) {
  const [, navigate] = useLocation();
  const fresh = useFresh();
  const [asked, setAsked] = useState<'delete' | 'edit' | 'rotate'>();
  const [secret, setSecret] = useState<string>();
  const params = { webhook_id: webhook.id };
  const paths = ['/webhooks', '/deliveries'] as const;
  // One of them at a time, so that what is said is of the last one.
  const act = useChange(
    (action: keyof typeof ACTIONS): Promise<unknown> => call('POST', ACTIONS[action], { params }),
    paths,
  );
  const isActing = (action: keyof typeof ACTIONS) => act.isPending && act.variables === action;
  const rotate = useChange(
    () => fresh('A new secret', () => call('POST', '/webhooks/:webhook_id/rotate', { params })),
    paths,
  );
  const remove = useChange(() => call('DELETE', '/webhooks/:webhook_id', { params }), paths);
  const isActive = webhook.status === 'active';
  const until = webhook.previous_secret_until;
  return (
    <>
      <PageHeader title="Webhook" lead={<code>{webhook.url}</code>}>
        <Button
          disabled={act.isPending}
          pending={isActing('test') && 'Sending…'}
          onClick={() => act.mutate('test')}
        >
          Send a test
        </Button>
        <Button
          disabled={act.isPending}
          pending={(isActing('enable') || isActing('disable')) && 'One moment…'}
          onClick={() => act.mutate(isActive ? 'disable' : 'enable')}
        >
          {isActive ? 'Disable' : 'Enable'}
        </Button>
        <Button onClick={() => setAsked('edit')}>Edit…</Button>
        <Button onClick={() => setAsked('rotate')}>New secret…</Button>
        <Button kind="danger" onClick={() => setAsked('delete')}>
          Delete…
        </Button>
      </PageHeader>
      <ErrorNotice error={act.error} money={MONEY} />
      {webhook.status === 'failed' && (
        <Notice
          tone="bad"
          action={
            <Button
              size="small"
              onClick={() => navigate(`/console/settings/webhooks/${webhook.id}?status=${MISSING}`)}
            >
              Show what was not delivered
            </Button>
          }
        >
          <p>It failed five times for one event, and gets nothing at present.</p>
          <p>
            Events are kept for 30 days. Repair the endpoint, or edit it here. Enable the webhook,
            and send them again below.
          </p>
        </Notice>
      )}
      <Facts
        entries={[
          ['State', <WebhookState key="state" {...webhook} />],
          ...healthOf(webhook),
          ['Events', webhook.events.join(', ')],
          ['Id', <code key="id">{webhook.id}</code>],
          ['Created', <Time key="time" time={webhook.created_at} />],
          ['Two secrets sign until', until && <Time key="until" time={until} />],
        ]}
      />
      <DeliveriesSection webhookId={webhook.id} />
      {asked === 'edit' && <EditWebhook webhook={webhook} onClose={() => setAsked(undefined)} />}
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
          kept="it sealed"
          onClose={() => {
            setSecret(undefined);
            rotate.reset();
          }}
        />
      )}
    </>
  );
}
