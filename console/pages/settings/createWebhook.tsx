import { useState } from 'react';
import type { CreatedWebhook, WebhookRequest } from '../../../api/console/contracts/index.ts';
import { call, RequestError } from '../../data/request.ts';
import { useChange } from '../../data/useChange.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { CheckField, TextField } from '../../design/field.tsx';
import { ErrorNotice } from '../../design/notice.tsx';
import { useFresh } from '../../session/session.tsx';
import styles from './createWebhook.module.css';
import { EVENT_KINDS } from './webhookValues.tsx';

const CHOSEN_FIRST: WebhookRequest['events'] = ['job.completed', 'job.failed', 'credit.low'];

export function CreateWebhook({
  onCreated,
  onClose,
}: {
  readonly onCreated: (webhook: CreatedWebhook) => void;
  readonly onClose: () => void;
}) {
  const fresh = useFresh();
  const [url, setUrl] = useState('');
  const [events, setEvents] = useState(CHOSEN_FIRST);
  const create = useChange(
    (body: { url: string; events: WebhookRequest['events'] }) =>
      fresh("A webhook's secret", () => call('POST', '/webhooks', { body })),
    ['/webhooks'],
  );
  const { error } = create;
  const isUrlWrong = error instanceof RequestError && error.param === 'url';
  const canAdd = url.trim() !== '' && events.length > 0 && !create.isPending;
  const add = () => {
    if (canAdd) create.mutate({ url: url.trim(), events }, { onSuccess: onCreated });
  };
  const toggle = (kind: WebhookRequest['events'][number], isChosen: boolean) =>
    setEvents(isChosen ? [...events, kind] : events.filter((one) => one !== kind));
  return (
    <Dialog
      title="Add a webhook"
      onClose={onClose}
      onEnter={add}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            disabled={!canAdd}
            pending={create.isPending && 'Adding…'}
            onClick={add}
          >
            Add it
          </Button>
        </>
      }
    >
      <TextField
        label="Endpoint"
        inputMode="url"
        placeholder="https://example.com/webhooks"
        isCode
        value={url}
        error={isUrlWrong ? error.message : undefined}
        hint="https, and reachable from the internet"
        onChange={(event) => setUrl(event.target.value)}
      />
      <fieldset className={styles.kinds}>
        <legend>Events</legend>
        {EVENT_KINDS.map(([kind, meaning]) => (
          <CheckField
            key={kind}
            checked={events.includes(kind)}
            onChange={(event) => toggle(kind, event.target.checked)}
            label={
              <>
                <code>{kind}</code> <span className="soft">{meaning}</span>
              </>
            }
          />
        ))}
      </fieldset>
      {error && !isUrlWrong && (
        <ErrorNotice error={error} money="No webhook was added. Credits are not affected." />
      )}
    </Dialog>
  );
}
