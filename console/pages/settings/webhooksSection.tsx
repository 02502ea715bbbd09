import { useState } from 'react';
import { Link } from 'wouter';
import type { ConsoleWebhook, CreatedWebhook } from '../../../api/contracts/index.ts';
import { useRead } from '../../data/queries.ts';
import { Button, buttonClass } from '../../design/button.tsx';
import { installCommand } from '../../design/code.tsx';
import { formatCount } from '../../design/formats.ts';
import { Empty, Reading } from '../../design/notice.tsx';
import { Row, Section } from '../../design/page.tsx';
import { type Column, Table } from '../../design/table.tsx';
import { SecretOnce } from './secretOnce.tsx';
import { CreateWebhook } from './webhookDialogs.tsx';
import { WebhookState } from './webhookValues.tsx';

const columns: readonly Column<ConsoleWebhook>[] = [
  {
    title: 'Endpoint',
    cell: ({ id, url }) => <Link href={`/console/settings/webhooks/${id}`}>{url}</Link>,
  },
  { title: 'State', isKey: true, cell: WebhookState },
  { title: 'Events', isText: true, cell: ({ events }) => events.join(', ') },
  { title: 'Pending', isNumber: true, cell: ({ pending }) => formatCount(pending) },
  {
    title: 'Not delivered',
    isNumber: true,
    cell: ({ failed, undelivered }) => formatCount(failed + undelivered),
  },
];

export function WebhooksSection() {
  const read = useRead('/webhooks');
  const { data } = read;
  // Only a wallet with an account on the ledger has webhooks.
  const canAdd = useRead('/account').data?.is_open !== false;
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState<CreatedWebhook>();
  return (
    <Section
      title="Webhooks"
      lead="Signed POSTs of what happens to your jobs and credits."
      actions={
        <>
          {data && data.data.length > 0 && (
            <Link href="/console/settings/events" className={buttonClass()}>
              Events
            </Link>
          )}
          {canAdd && <Button onClick={() => setCreating(true)}>Add a webhook</Button>}
        </>
      }
    >
      <Reading of={read} what="the webhooks" />
      {data && (
        <Table
          caption="Webhooks"
          columns={columns}
          rows={data.data}
          rowKey={({ id }) => id}
          empty={<NoWebhook canAdd={canAdd} onAdd={() => setCreating(true)} />}
        />
      )}
      {isCreating && (
        <CreateWebhook
          onClose={() => setCreating(false)}
          onCreated={(made) => {
            setCreating(false);
            if (made.secret !== undefined) setCreated(made);
          }}
        />
      )}
      {created?.secret && (
        <SecretOnce
          title="The webhook's secret"
          secret={created.secret}
          kept="it sealed"
          onClose={() => setCreated(undefined)}
        >
          <p className="soft">
            Your receiver checks each delivery with it: <code>{installCommand('webhooks')}</code>.
          </p>
        </SecretOnce>
      )}
    </Section>
  );
}

function NoWebhook({ canAdd, onAdd }: { canAdd: boolean; onAdd: () => void }) {
  return (
    <Empty title="No webhook yet">
      {canAdd ? (
        <>
          <p className="soft">
            Name an https endpoint of yours. Each delivery can be looked at and sent again.
          </p>
          <Row>
            <Button kind="primary" onClick={onAdd}>
              Add the first webhook
            </Button>
          </Row>
        </>
      ) : (
        <p className="soft">
          Webhooks need a credit account, which{' '}
          <Link href="/console/credits">your first purchase</Link> opens.
        </p>
      )}
    </Empty>
  );
}
