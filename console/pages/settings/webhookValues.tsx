import type { ConsoleWebhook, Delivery, Replayed } from '../../../api/console/contracts/index.ts';
import { formatCount } from '../../design/formats.ts';
import { State, type Tone } from '../../design/state.tsx';

type Kind = ConsoleWebhook['events'][number];

/** Every kind of event, with what it says. */
const KINDS: Readonly<Record<Kind, string>> = {
  'job.submitted': 'Credits were locked for a job.',
  'job.processing': 'A worker took a job.',
  'job.completed': 'A job was settled.',
  'job.failed': 'A job failed; its credits are back.',
  'job.timeout': 'A job was refunded after its deadline.',
  'job.disputed': 'A job was disputed.',
  'job.dispute_resolved': 'A dispute ended.',
  'credit.low': 'The credits, available and locked together, fell below the threshold.',
  'credit.topup': 'Credits were bought.',
  'worker.registered': 'A worker joined.',
  'worker.slashed': 'A worker lost stake.',
};

export const EVENT_KINDS = Object.entries(KINDS) as readonly (readonly [Kind, string])[];

const WEBHOOK_TONES: Readonly<Record<ConsoleWebhook['status'], Tone>> = {
  active: 'ok',
  failed: 'bad',
  disabled: 'idle',
};

export function WebhookState({ status }: Pick<ConsoleWebhook, 'status'>) {
  return <State tone={WEBHOOK_TONES[status]} word={status} />;
}

const DELIVERY_TONES: Readonly<Record<Delivery['status'], Tone>> = {
  delivered: 'ok',
  pending: 'live',
  failed: 'bad',
  undelivered: 'warn',
};

export function DeliveryState({ status }: Pick<Delivery, 'status'>) {
  return <State tone={DELIVERY_TONES[status]} word={status} />;
}

/** What a replay left as it was, since only so many go out in a minute. */
export function LeftOver({ of: { left } }: { readonly of: Pick<Replayed, 'left'> }) {
  if (left === 0) return null;
  return <p>{formatCount(left)} more are as they were: send them again in a minute.</p>;
}
