import type { ConsoleWebhook, Delivery, Replayed } from '../../../api/contracts/index.ts';
import { type BodyOf, call } from '../../data/request.ts';
import { useChange } from '../../data/useChange.ts';
import { countOf, formatCount } from '../../design/formats.ts';
import { Notice } from '../../design/notice.tsx';
import { Ago, Ahead } from '../../design/time.tsx';
import { State, type Tone } from '../../design/values.tsx';

const WEBHOOK_TONES: Readonly<Record<ConsoleWebhook['status'], Tone>> = {
  active: 'ok',
  failed: 'bad',
  disabled: 'idle',
};

/** An active one may fail already: five times for one event end it. */
export function WebhookState({
  status,
  next_attempt_at,
}: Pick<ConsoleWebhook, 'status' | 'next_attempt_at'>) {
  if (status === 'active' && next_attempt_at) return <State tone="warn" word="active, failing" />;
  return <State tone={WEBHOOK_TONES[status]} word={status} />;
}

/** How its attempts went lately, and when it is tried again, for a list of facts. */
export function healthOf(webhook: ConsoleWebhook) {
  const { recent_attempts: attempts, recent_failures, last_success_at, next_attempt_at } = webhook;
  const rate = `${formatCount(recent_failures)} of the last ${countOf(attempts, 'attempt')}`;
  return [
    ['Failed', attempts > 0 && rate],
    ['Last success', last_success_at ? <Ago key="success" time={last_success_at} /> : 'none yet'],
    ['Next attempt', next_attempt_at && <Ahead key="next" time={next_attempt_at} />],
  ] as const;
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

/** What became of deliveries that were to be sent again. */
export function ReplayNotice({
  of: { replayed, pending, disabled, left, retry_after },
}: {
  of: Replayed;
}) {
  return (
    <Notice tone={disabled + left > 0 ? 'warn' : 'info'}>
      <p>{`${withVerb(replayed)} sent again.`}</p>
      {pending > 0 && <p>{`${withVerb(pending)} on the way already.`}</p>}
      {disabled > 0 && (
        <p>{`${withVerb(disabled)} for a disabled webhook: enable it, and send again.`}</p>
      )}
      {left > 0 && (
        <p>{`${withVerb(left)} above the budget: send again in ${formatCount(retry_after ?? 0)} s.`}</p>
      )}
    </Notice>
  );
}

const withVerb = (count: number) => `${countOf(count, 'event')} ${count === 1 ? 'is' : 'are'}`;

/** Sends deliveries again: chosen ones, or all that match. */
export function useReplay() {
  return useChange(
    (body: BodyOf<'POST', '/deliveries/replay'>) => call('POST', '/deliveries/replay', { body }),
    ['/webhooks', '/deliveries', '/deliveries/:delivery_id'],
  );
}
