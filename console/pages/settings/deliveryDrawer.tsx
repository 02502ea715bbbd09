import type { DeliveryDetail } from '../../../api/console/contracts/index.ts';
import { useExplorer } from '../../data/ledger.ts';
import { useRead } from '../../data/queries.ts';
import { useChange } from '../../data/useChange.ts';
import { useFollowing } from '../../data/useFollowing.ts';
import { TransactionLink } from '../../design/address.tsx';
import { Button } from '../../design/button.tsx';
import { Pre } from '../../design/code.tsx';
import { Drawer } from '../../design/dialog.tsx';
import { formatMs } from '../../design/formats.ts';
import { ErrorNotice, Reading } from '../../design/notice.tsx';
import { Facts, Stack } from '../../design/page.tsx';
import { State } from '../../design/state.tsx';
import { Time } from '../../design/time.tsx';
import { DeliveryState } from './webhookValues.tsx';

/** One delivery: its body, and each attempt with what the receiver answered. */
export function DeliveryDrawer({
  webhookId,
  deliveryId,
  onClose,
  onReplay,
}: {
  readonly webhookId: string;
  readonly deliveryId: string;
  readonly onClose: () => void;
  readonly onReplay: (id: string) => Promise<unknown>;
}) {
  const read = useRead('/webhooks/:webhook_id/deliveries/:delivery_id', {
    params: { webhook_id: webhookId, delivery_id: deliveryId },
    everyMs: 3_000,
  });
  const { data } = read;
  useFollowing(data?.status, ['/webhooks', '/webhooks/:webhook_id/deliveries']);
  const replay = useChange(() => onReplay(deliveryId), []);
  return (
    <Drawer
      title={data ? data.event : 'Delivery'}
      onClose={onClose}
      foot={
        <Button
          kind="primary"
          pending={replay.isPending && 'Sending…'}
          onClick={() => replay.mutate(undefined)}
        >
          Send it again
        </Button>
      }
    >
      <Reading of={read} what="the delivery" />
      {replay.error && <ErrorNotice error={replay.error} money="Nothing was sent again." />}
      {data && (
        <>
          <DeliveryFacts of={data} />
          <h3>Attempts</h3>
          <Attempts of={data.attempts_made} />
          <h3>Body</h3>
          <Pre code={indented(data.body)} label="Body of the delivery" />
        </>
      )}
    </Drawer>
  );
}

function DeliveryFacts({ of: delivery }: { readonly of: DeliveryDetail }) {
  const explorer = useExplorer();
  return (
    <Facts
      entries={[
        ['State', <DeliveryState key="state" status={delivery.status} />],
        ['Event', <code key="event">{delivery.event_id}</code>],
        ['Event time', <Time key="time" time={delivery.created_at} />],
        delivery.due_at !== null && ['Next attempt', <Time key="due" time={delivery.due_at} />],
        delivery.tx !== null && [
          'Transaction',
          <TransactionLink
            key="tx"
            signature={delivery.tx}
            href={explorer.transaction(delivery.tx)}
          />,
        ],
      ]}
    />
  );
}

function Attempts({ of: attempts }: { readonly of: DeliveryDetail['attempts_made'] }) {
  return (
    <Stack>
      {attempts.map((attempt) => (
        <div key={`${attempt.attempt} ${attempt.started_at}`}>
          <Facts
            entries={[
              [
                `Attempt ${attempt.attempt}`,
                <State
                  key="state"
                  tone={attempt.error === null ? 'ok' : 'bad'}
                  word={String(attempt.status_code ?? attempt.error ?? 'in progress')}
                />,
              ],
              ['Started', <Time key="time" time={attempt.started_at} />],
              ['Took', formatMs(attempt.duration_ms)],
              attempt.error !== null && ['Why it failed', attempt.error],
            ]}
          />
          {attempt.response && (
            <Pre code={attempt.response} label={`Answer to attempt ${attempt.attempt}`} />
          )}
        </div>
      ))}
      {attempts.length === 0 && <p className="soft">None yet.</p>}
    </Stack>
  );
}

/** For reading; the bytes that were signed have no spaces. */
function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), undefined, 2);
  } catch {
    return body;
  }
}
