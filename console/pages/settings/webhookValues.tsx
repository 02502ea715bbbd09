import type { ConsoleWebhook, Delivery, Replayed } from '../../../api/console/contracts/index.ts';
import { formatCount } from '../../design/formats.ts';
import { State, type Tone } from '../../design/state.tsx';

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

/** How many deliveries a replay did not send, above the budget of a minute. */
export function LeftOver({ of: { left } }: { readonly of: Pick<Replayed, 'left'> }) {
  if (left === 0) return null;
  return <p>{formatCount(left)} more are as they were: send them again in a minute.</p>;
}
