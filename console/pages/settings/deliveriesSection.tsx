import { useState } from 'react';
import { Link } from 'wouter';
import type { ConsoleWebhook, Delivery } from '../../../api/contracts/index.ts';
import { POLL_MS } from '../../data/queries.ts';
import { useFilters } from '../../data/useFilters.ts';
import { usePages } from '../../data/usePages.ts';
import { Button } from '../../design/button.tsx';
import { CheckField } from '../../design/field.tsx';
import { formatCount, formatMs } from '../../design/formats.ts';
import { Empty, ErrorNotice, Reading } from '../../design/notice.tsx';
import { ReadMore, Section } from '../../design/page.tsx';
import { type Column, Table } from '../../design/table.tsx';
import { Ago } from '../../design/time.tsx';
import styles from './deliveriesSection.module.css';
import { DeliveryDrawer } from './deliveryDrawer.tsx';
import {
  DeliveryFilterFields,
  type DeliveryFilters,
  FILTERS,
  isIdWrong,
  queryOf,
} from './deliveryFilters.tsx';
import { DeliveryState, ReplayNotice, useReplay } from './webhookValues.tsx';

const PAGE_ROWS = 50;
const NONE: ReadonlySet<string> = new Set();
const keyOfRow = ({ id }: Delivery) => id;

/** The deliveries of one webhook, or of all of these, to be looked at and sent again. */
export function DeliveriesSection({
  webhookId,
  webhooks,
}: {
  webhookId?: string;
  webhooks?: readonly ConsoleWebhook[];
}) {
  const [filters, setFilters] = useFilters(FILTERS);
  /** Of those that are shown, or every one that matches, shown or not. */
  const [chosen, setChosen] = useState<ReadonlySet<string> | 'all'>(NONE);
  const query = queryOf(filters, webhookId);
  const list = usePages('/deliveries', {
    query,
    everyMs: POLL_MS.changes,
    keyOfRow,
    pageRows: PAGE_ROWS,
    enabled: !isIdWrong(filters),
  });
  const replay = useReplay();
  const rows = list.rows ?? [];
  const filter = (changes: DeliveryFilters) => {
    setChosen(NONE);
    setFilters(changes);
  };
  const send = () =>
    replay.mutate(chosen === 'all' ? { matching: query } : { delivery_ids: [...chosen] }, {
      onSuccess: () => setChosen(NONE),
    });

  return (
    <Section
      title="Deliveries"
      actions={
        <Button
          disabled={chosen !== 'all' && chosen.size === 0}
          pending={replay.isPending && 'Sending…'}
          onClick={send}
        >
          {sendWords(chosen)}
        </Button>
      }
    >
      <DeliveryFilterFields webhooks={webhooks} filters={filters} onFilter={filter} />
      {replay.data && <ReplayNotice of={replay.data} />}
      <Reading of={list} what="the deliveries" />
      <ErrorNotice
        error={replay.error}
        money="Nothing was sent again. Events are kept for 30 days."
      />
      {list.rows &&
        (rows.length === 0 ? (
          <Empty title="No deliveries">
            <p className="soft">Nothing fits, or nothing has happened yet. A test makes one.</p>
          </Empty>
        ) : (
          <>
            <CheckField
              label="Choose all that match, delivered ones too"
              checked={chosen === 'all'}
              onChange={({ target }) => setChosen(target.checked ? 'all' : NONE)}
            />
            <Table
              caption="Deliveries"
              columns={columnsOf({
                urls: webhooks && new Map(webhooks.map(({ id, url }) => [id, url])),
                chosen,
                onChoose: setChosen,
                onOpen: (id) => setFilters({ delivery: id }),
              })}
              rows={rows}
              rowKey={keyOfRow}
            />
          </>
        ))}
      <ReadMore of={list} />
      {filters.delivery && (
        <DeliveryDrawer
          deliveryId={filters.delivery}
          onClose={() => setFilters({ delivery: undefined })}
        />
      )}
    </Section>
  );
}

function sendWords(chosen: ReadonlySet<string> | 'all'): string {
  if (chosen === 'all') return 'Send all that match again';
  return `Send ${chosen.size > 0 ? formatCount(chosen.size) : 'chosen'} again`;
}

/** @param options.urls of the webhooks, where the list is of several */
function columnsOf(options: {
  readonly urls: ReadonlyMap<string, string> | undefined;
  readonly chosen: ReadonlySet<string> | 'all';
  readonly onChoose: (chosen: ReadonlySet<string>) => void;
  readonly onOpen: (id: string) => void;
}): readonly Column<Delivery>[] {
  const { urls, chosen, onChoose, onOpen } = options;
  const toggle = (id: string) => {
    const next = new Set(chosen === 'all' ? NONE : chosen);
    if (!next.delete(id)) next.add(id);
    onChoose(next);
  };
  return [
    {
      title: 'Event',
      cell: ({ id, event }) => (
        <div className={styles.event}>
          <input
            type="checkbox"
            aria-label={`Choose delivery ${id}`}
            checked={chosen === 'all' || chosen.has(id)}
            disabled={chosen === 'all'}
            onChange={() => toggle(id)}
          />
          <Button kind="quiet" size="small" onClick={() => onOpen(id)}>
            {event}
          </Button>
        </div>
      ),
    },
    { title: 'State', isKey: true, cell: DeliveryState },
    { title: 'Event time', isKey: true, cell: ({ created_at }) => <Ago time={created_at} /> },
    ...(urls ? [webhookColumn(urls)] : []),
    { title: 'Attempts', isNumber: true, cell: ({ attempts }) => formatCount(attempts) },
    { title: 'Last answer', cell: ({ last_attempt }) => lastAnswer(last_attempt) },
  ];
}

const webhookColumn = (urls: ReadonlyMap<string, string>): Column<Delivery> => ({
  title: 'Webhook',
  cell: ({ webhook_id }) => (
    <Link href={`/console/settings/webhooks/${webhook_id}`}>{urls.get(webhook_id) ?? '–'}</Link>
  ),
});

function lastAnswer(attempt: Delivery['last_attempt']): string {
  if (attempt === null) return '–';
  const answer = attempt.status_code ?? attempt.error ?? 'in progress';
  return attempt.duration_ms === null ? `${answer}` : `${answer}, ${formatMs(attempt.duration_ms)}`;
}
