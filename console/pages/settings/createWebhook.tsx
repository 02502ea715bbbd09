import { useState } from 'react';
import type { CreatedWebhook, WebhookRequest } from '../../../api/console/contracts/index.ts';
import { WEBHOOK_KINDS } from '../../../webhooks/events.ts';
import { KIND_LABELS } from '../../../webhooks/generated/labels.ts';
import { call, RequestError } from '../../data/request.ts';
import { useChange } from '../../data/useChange.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { CheckField, TextField } from '../../design/field.tsx';
import { ErrorNotice } from '../../design/notice.tsx';
import { useFresh } from '../../session/session.tsx';
import styles from './createWebhook.module.css';

const CHOSEN_FIRST: Kinds = ['job.completed', 'job.failed', 'credit.low'];

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
    (body: { url: string; events: Kinds }) =>
      fresh("A webhook's secret", () => call('POST', '/webhooks', { body })),
    ['/webhooks'],
  );
  const { error } = create;
  const isUrlWrong = error instanceof RequestError && error.param === 'url';
  const canAdd = url.trim() !== '' && events.length > 0 && !create.isPending;
  const add = () => {
    if (canAdd) create.mutate({ url: url.trim(), events }, { onSuccess: onCreated });
  };
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
      <KindChoice chosen={events} onChange={setEvents} />
      {error && !isUrlWrong && (
        <ErrorNotice error={error} money="No webhook was added. Credits are not affected." />
      )}
    </Dialog>
  );
}

type Kinds = WebhookRequest['events'];

function KindChoice({
  chosen,
  onChange,
}: {
  readonly chosen: Kinds;
  readonly onChange: (chosen: Kinds) => void;
}) {
  const toggle = (kind: Kinds[number], isChosen: boolean) =>
    onChange(isChosen ? [...chosen, kind] : chosen.filter((one) => one !== kind));
  return (
    <fieldset className={styles.kinds}>
      <legend>Events</legend>
      {WEBHOOK_KINDS.map((kind) => (
        <CheckField
          key={kind}
          checked={chosen.includes(kind)}
          onChange={(event) => toggle(kind, event.target.checked)}
          label={
            <>
              <code>{kind}</code> <span className="soft">{KIND_LABELS[kind]}</span>
            </>
          }
        />
      ))}
    </fieldset>
  );
}
