import { Link } from 'wouter';
import type { DeliveryDetail } from '../../../api/contracts/index.ts';
import { POLL_MS, useRead } from '../../data/queries.ts';
import { Button } from '../../design/button.tsx';
import { Pre } from '../../design/code.tsx';
import { Drawer } from '../../design/dialog.tsx';
import { formatMs } from '../../design/formats.ts';
import { ErrorNotice, Reading } from '../../design/notice.tsx';
import { Facts } from '../../design/page.tsx';
import { Time } from '../../design/time.tsx';
import { State, Transaction } from '../../design/values.tsx';
import styles from './deliveryDrawer.module.css';
import { DeliveryState, ReplayNotice, useReplay } from './webhookValues.tsx';

/** One delivery: what was sent, and beside it each attempt with what the receiver answered. */
export function DeliveryDrawer({
  deliveryId,
  onClose,
}: {
  deliveryId: string;
  onClose: () => void;
}) {
  const read = useRead('/deliveries/:delivery_id', {
    params: { delivery_id: deliveryId },
    everyMs: POLL_MS.changes,
  });
  const { data } = read;
  const replay = useReplay();
  return (
    <Drawer
      title={data ? data.event : 'Delivery'}
      isWide
      onClose={onClose}
      foot={
        <Button
          kind="primary"
          pending={replay.isPending && 'Sending…'}
          onClick={() => replay.mutate({ delivery_ids: [deliveryId] })}
        >
          Send it again
        </Button>
      }
    >
      <Reading of={read} what="the delivery" />
      <ErrorNotice error={replay.error} money="Nothing was sent again." />
      {replay.data?.replayed === 0 && <ReplayNotice of={replay.data} />}
      {data && (
        <>
          <DeliveryFacts of={data} />
          <div className={styles.sides}>
            <Sent of={data} />
            <Attempts of={data.attempts_made} />
          </div>
        </>
      )}
    </Drawer>
  );
}

function DeliveryFacts({ of: delivery }: { of: DeliveryDetail }) {
  const { due_at, job_id, tx } = delivery;
  return (
    <Facts
      entries={[
        ['State', <DeliveryState key="state" status={delivery.status} />],
        ['Event', <code key="event">{delivery.event_id}</code>],
        ['Event time', <Time key="time" time={delivery.created_at} />],
        ['Next attempt', due_at && <Time key="due" time={due_at} />],
        [
          'Job',
          job_id && (
            <Link key="job" href={`/console/jobs/${job_id}`} className="mono">
              {job_id}
            </Link>
          ),
        ],
        ['Transaction', tx && <Transaction key="tx" signature={tx} />],
      ]}
    />
  );
}

function Sent({ of: { body, attempts_made } }: { of: DeliveryDetail }) {
  const last = attempts_made.at(-1);
  return (
    <div className={styles.side}>
      <h3>{last ? 'Sent' : 'To be sent'}</h3>
      {last && (
        <>
          <Pre
            code={[
              `POST ${last.url ?? ''}`,
              ...Object.entries(last.headers).map(([name, value]) => `${name}: ${value}`),
            ].join('\n')}
            label="Headers of the last attempt"
          />
          <p className="soft">The time and the signatures went with them, and are not kept.</p>
        </>
      )}
      <Pre code={indented(body)} label="Body of the delivery" />
    </div>
  );
}

function Attempts({ of: attempts }: { of: DeliveryDetail['attempts_made'] }) {
  const last = attempts.at(-1);
  return (
    <div className={styles.side}>
      <h3>Attempts</h3>
      {attempts.length === 0 && <p className="soft">None yet.</p>}
      {attempts.toReversed().map((attempt) => (
        <div key={`${attempt.attempt} ${attempt.started_at}`}>
          <Facts
            entries={[
              [
                `Attempt ${attempt.attempt}`,
                <State
                  key="state"
                  tone={toneOf(attempt)}
                  word={String(attempt.status_code ?? attempt.error ?? 'in progress')}
                />,
              ],
              ['Started', <Time key="time" time={attempt.started_at} />],
              ['Took', formatMs(attempt.duration_ms)],
              ['To', attempt.url !== last?.url && attempt.url],
              ['Why it failed', attempt.error],
            ]}
          />
          {attempt.response && (
            <Pre code={attempt.response} label={`Answer to attempt ${attempt.attempt}`} />
          )}
        </div>
      ))}
    </div>
  );
}

function toneOf({ error, duration_ms }: DeliveryDetail['attempts_made'][number]) {
  if (error !== null) return 'bad';
  return duration_ms === null ? 'live' : 'ok';
}

/** For reading; the bytes that were signed have no spaces. */
function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), undefined, 2);
  } catch {
    return body;
  }
}
