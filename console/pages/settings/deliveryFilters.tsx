import type { ConsoleWebhook } from '../../../api/contracts/index.ts';
import { DELIVERY_STATUSES } from '../../../webhookOperations/deliveryStatuses.ts';
import { TEST_KIND, WEBHOOK_KINDS } from '../../../webhooks/events.ts';
import { fieldTime, filterField, isoTime } from '../../data/useFilters.ts';
import { SelectField, TextField } from '../../design/field.tsx';
import { Filters } from '../../design/page.tsx';

export const FILTERS = ['status', 'event', 'webhook', 'since', 'until', 'id', 'delivery'] as const;

/** As it stands in the page's address. `id` is of an event or a job, `delivery` the one that is open. */
export type DeliveryFilters = { readonly [Name in (typeof FILTERS)[number]]?: string | undefined };

/** What has not arrived, and is not on its way. */
export const MISSING = 'failed,undelivered';

const ID = /^(evt|job)_[0-9a-f]{32}$/;

export const isIdWrong = ({ id }: DeliveryFilters) => id !== undefined && !ID.test(id);

/** The same as the API takes it. @param webhookId of the webhook whose page it is */
export function queryOf(filters: DeliveryFilters, webhookId?: string) {
  const { status, event, webhook = webhookId, since, until, id } = filters;
  return {
    webhook,
    status,
    event: event as (typeof WEBHOOK_KINDS)[number] | undefined,
    ...(id && (id.startsWith('job_') ? { job_id: id } : { event_id: id })),
    since: since && isoTime(since),
    until: until && isoTime(until),
  };
}

const STATES = [['', 'any state'], [MISSING, 'not delivered'], ...DELIVERY_STATUSES] as const;
const KINDS = [['', 'any event'], ...WEBHOOK_KINDS, TEST_KIND] as const;

/** @param webhooks to choose from; absent on the page of one */
export function DeliveryFilterFields(props: {
  webhooks?: readonly ConsoleWebhook[] | undefined;
  filters: DeliveryFilters;
  onFilter: (changes: DeliveryFilters) => void;
}) {
  const { webhooks, filters, onFilter } = props;
  const { since, until } = filters;
  const field = filterField(filters, onFilter);
  return (
    <Filters label="Deliveries to show">
      <SelectField options={STATES} {...field('status', 'State')} />
      <SelectField options={KINDS} {...field('event', 'Event')} />
      {webhooks && (
        <SelectField
          options={[['', 'any webhook'], ...webhooks.map(({ id, url }) => [id, url] as const)]}
          {...field('webhook', 'Webhook')}
        />
      )}
      <TextField type="datetime-local" {...field('since', 'From (UTC)')} value={fieldTime(since)} />
      <TextField
        type="datetime-local"
        {...field('until', 'Before (UTC)')}
        value={fieldTime(until)}
      />
      <TextField
        isCode
        placeholder="evt_… or job_…"
        error={isIdWrong(filters) ? 'evt_ or job_, and 32 hexadecimal digits.' : undefined}
        {...field('id', 'Event or job id')}
      />
    </Filters>
  );
}
