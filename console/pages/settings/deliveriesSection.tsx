import { useState } from 'react';
import type { ConsoleWebhook, Delivery } from '../../../api/console/contracts/index.ts';
import { TEST_KIND } from '../../../webhooks/events.ts';
import { usePages } from '../../data/queries.ts';
import { call } from '../../data/request.ts';
import { useChange } from '../../data/useChange.ts';
import { useFilters } from '../../data/useFilters.ts';
import { useFollowing } from '../../data/useFollowing.ts';
import { Button } from '../../design/button.tsx';
import { SelectField, TextField } from '../../design/field.tsx';
import { formatCount, formatMs } from '../../design/formats.ts';
import { Empty, ErrorNotice, Notice, Reading } from '../../design/notice.tsx';
import { Filters, Row, Section } from '../../design/page.tsx';
import { type Column, Table } from '../../design/table.tsx';
import { Ago } from '../../design/time.tsx';
import { DeliveryDrawer } from './deliveryDrawer.tsx';
import { RecoverDialog } from './recoverDialog.tsx';
import { DeliveryState, LeftOver } from './webhookValues.tsx';

const STATES = [
  ['', 'any state'],
  ['delivered', 'delivered'],
  ['pending', 'pending'],
  ['failed', 'failed'],
  ['undelivered', 'undelivered'],
] as const;
const EVERY_MS = 5_000;

/** The deliveries of a webhook, to be looked at and sent again. */
export function DeliveriesSection({ webhook }: { readonly webhook: ConsoleWebhook }) {
  const params = { webhook_id: webhook.id };
  const [filters, setFilters] = useFilters(FILTERS);
  const { status, event, since } = filters;
  const [isRecovering, setRecovering] = useState(false);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const query = {
    ...(status && { status: status as Delivery['status'] }),
    ...(event && { event: event as Delivery['event'] }),
    ...(since && { since: `${since}T00:00:00Z` }),
  };
  const list = usePages('/webhooks/:webhook_id/deliveries', { params, query, everyMs: EVERY_MS });
  const replay = useChange(
    (delivery_ids: string[]) =>
      call('POST', '/webhooks/:webhook_id/replay', { params, body: { delivery_ids } }),
    [
      '/webhooks',
      '/webhooks/:webhook_id/deliveries',
      '/webhooks/:webhook_id/deliveries/:delivery_id',
    ],
  );
  const rows = list.rows ?? [];
  // One that arrives, or is given up, may change the state of the webhook.
  useFollowing(list.rows?.map(({ id, status: state }) => `${id} ${state}`).join(), ['/webhooks']);
  const replayed = replay.variables ?? [];
  const waiting = rows.filter(
    ({ id, status: state }) => state === 'pending' && replayed.includes(id),
  );
  const toggle = (id: string) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  };

  return (
    <Section
      title="Deliveries"
      actions={
        <Row>
          <Button
            disabled={chosen.size === 0}
            pending={replay.isPending && 'Sending…'}
            onClick={() => replay.mutate([...chosen], { onSuccess: () => setChosen(new Set()) })}
          >
            Send {chosen.size > 0 ? formatCount(chosen.size) : 'chosen'} again
          </Button>
          <Button onClick={() => setRecovering(true)}>Recover since…</Button>
        </Row>
      }
    >
      <DeliveryFilters webhook={webhook} filters={filters} onFilter={setFilters} />
      {waiting.length > 0 && (
        <Notice tone="info">
          <p>
            {waiting.length === 1
              ? 'One delivery is being sent again.'
              : `${formatCount(waiting.length)} deliveries are being sent again.`}
          </p>
        </Notice>
      )}
      {replay.data && replay.data.left > 0 && (
        <Notice tone="warn">
          <LeftOver of={replay.data} />
        </Notice>
      )}
      <Reading of={list} what="the deliveries" />
      {replay.error && (
        <ErrorNotice
          error={replay.error}
          money="Nothing was sent again. Events are kept for 30 days."
        />
      )}
      {list.rows &&
        (rows.length === 0 ? (
          <Empty title="No deliveries">
            <p className="soft">Nothing fits, or nothing has happened yet. A test makes one.</p>
          </Empty>
        ) : (
          <Table
            caption="Deliveries"
            columns={columnsOf({
              chosen,
              onToggle: toggle,
              onOpen: (id) => setFilters({ delivery: id }),
            })}
            rows={rows}
            rowKey={({ id }) => id}
          />
        ))}
      {list.hasMore && (
        <Row>
          <Button pending={list.isReadingMore && 'Reading…'} onClick={list.readMore}>
            Show older ones
          </Button>
        </Row>
      )}
      {filters.delivery && (
        <DeliveryDrawer
          webhookId={webhook.id}
          deliveryId={filters.delivery}
          onClose={() => setFilters({ delivery: undefined })}
          onReplay={(id) => replay.mutateAsync([id])}
        />
      )}
      {isRecovering && (
        <RecoverDialog webhookId={webhook.id} onClose={() => setRecovering(false)} />
      )}
    </Section>
  );
}

const FILTERS = ['status', 'event', 'since', 'delivery'] as const;
type DeliveryFilter = Partial<Record<(typeof FILTERS)[number], string>>;

function DeliveryFilters({
  webhook,
  filters,
  onFilter,
}: {
  readonly webhook: ConsoleWebhook;
  readonly filters: DeliveryFilter;
  readonly onFilter: (change: DeliveryFilter) => void;
}) {
  return (
    <Filters label="Deliveries to show">
      <SelectField
        label="State"
        options={STATES}
        value={filters.status ?? ''}
        data-search
        onChange={({ target }) => onFilter({ status: target.value })}
      />
      <SelectField
        label="Event"
        options={[
          ['', 'any event'],
          ...webhook.events.map((kind) => [kind, kind] as const),
          [TEST_KIND, TEST_KIND],
        ]}
        value={filters.event ?? ''}
        onChange={({ target }) => onFilter({ event: target.value })}
      />
      <TextField
        label="From (UTC)"
        type="date"
        value={filters.since ?? ''}
        onChange={({ target }) => onFilter({ since: target.value })}
      />
    </Filters>
  );
}

function columnsOf({
  chosen,
  onToggle,
  onOpen,
}: {
  readonly chosen: ReadonlySet<string>;
  readonly onToggle: (id: string) => void;
  readonly onOpen: (id: string) => void;
}): readonly Column<Delivery>[] {
  return [
    {
      title: 'Choose',
      cell: ({ id }) => (
        <input
          type="checkbox"
          aria-label={`Choose delivery ${id}`}
          checked={chosen.has(id)}
          onChange={() => onToggle(id)}
        />
      ),
    },
    {
      title: 'Event',
      cell: ({ id, event: kind, event_id }) => (
        <>
          <Button kind="quiet" size="small" onClick={() => onOpen(id)}>
            {kind}
          </Button>
          <div className="soft mono">{event_id}</div>
        </>
      ),
    },
    { title: 'State', cell: DeliveryState },
    { title: 'Attempts', isNumber: true, cell: ({ attempts }) => formatCount(attempts) },
    { title: 'Last answer', cell: ({ last_attempt }) => lastAnswer(last_attempt) },
    { title: 'Event time', cell: ({ created_at }) => <Ago time={created_at} /> },
  ];
}

function lastAnswer(attempt: Delivery['last_attempt']): string {
  if (attempt === null) return '–';
  const answer = attempt.status_code ?? attempt.error ?? 'in progress';
  return attempt.duration_ms === null ? `${answer}` : `${answer}, ${formatMs(attempt.duration_ms)}`;
}
