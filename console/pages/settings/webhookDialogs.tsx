import type { UseMutationResult } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type {
  ConsoleWebhook,
  CreatedWebhook,
  WebhookRequest,
} from '../../../api/contracts/index.ts';
import { WEBHOOK_KINDS } from '../../../webhooks/events.ts';
import { KIND_LABELS } from '../../../webhooks/generated/labels.ts';
import { useRead } from '../../data/queries.ts';
import { call, RequestError } from '../../data/request.ts';
import { useChange } from '../../data/useChange.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { CheckField, TextField } from '../../design/field.tsx';
import { countOf } from '../../design/formats.ts';
import { ErrorNotice } from '../../design/notice.tsx';
import { useFresh } from '../../session/session.tsx';
import styles from './webhookDialogs.module.css';

type Kinds = WebhookRequest['events'];

interface Target {
  readonly url: string;
  readonly events: Kinds;
}

const NEW: Target = { url: '', events: ['job.completed', 'job.failed', 'credit.low'] };

export function CreateWebhook({
  onCreated,
  onClose,
}: {
  onCreated: (webhook: CreatedWebhook) => void;
  onClose: () => void;
}) {
  const fresh = useFresh();
  const create = useChange(
    (body: Target) => fresh("A webhook's secret", () => call('POST', '/webhooks', { body })),
    ['/webhooks'],
  );
  return (
    <TargetDialog
      title="Add a webhook"
      action={['Add it', 'Adding…']}
      money="No webhook was added. Credits are not affected."
      present={NEW}
      change={create}
      onDone={onCreated}
      onClose={onClose}
    />
  );
}

export function EditWebhook({
  webhook,
  onClose,
}: {
  webhook: ConsoleWebhook;
  onClose: () => void;
}) {
  const fresh = useFresh();
  const params = { webhook_id: webhook.id };
  const [opened] = useState(webhook);
  const save = useChange(
    // What stays as it was opened is not sent: another tab may have changed it since.
    ({ url, events }: Target) => {
      const body = {
        ...(url !== opened.url && { url }),
        ...(!isSame(events, opened.events) && { events }),
      };
      return fresh('A new endpoint', () =>
        call('PATCH', '/webhooks/:webhook_id', { params, body }),
      );
    },
    ['/webhooks', '/deliveries'],
  );
  return (
    <TargetDialog
      title="Edit the webhook"
      action={['Save', 'Saving…']}
      money="The webhook is as it was. Credits are not affected."
      present={opened}
      change={save}
      onDone={onClose}
      onClose={onClose}
    >
      <p className="soft">
        What is pending goes to the new endpoint from its next attempt on. The secret stays.
      </p>
      {webhook.status !== 'active' && (
        <p className="soft">
          The webhook becomes active. What was not delivered can be sent again.
        </p>
      )}
    </TargetDialog>
  );
}

const isSame = (some: readonly string[], others: readonly string[]) =>
  some.toSorted().join() === others.toSorted().join();

/** Asks where events go, and which ones. */
function TargetDialog<Answer>({
  title,
  action: [action, pending],
  money,
  present,
  change,
  onDone,
  onClose,
  children,
}: {
  title: string;
  action: readonly [label: string, pending: string];
  money: string;
  present: Target;
  change: UseMutationResult<Answer, Error, Target>;
  onDone: (answer: Answer) => void;
  onClose: () => void;
  children?: ReactNode;
}) {
  const [url, setUrl] = useState(present.url);
  const [events, setEvents] = useState(present.events);
  const { error, isPending } = change;
  const isUrlWrong = error instanceof RequestError && error.param === 'url';
  const target = { url: url.trim(), events };
  const isOther = target.url !== present.url || !isSame(events, present.events);
  const canSave = isOther && target.url !== '' && events.length > 0 && !isPending;
  const save = () => {
    if (canSave) change.mutate(target, { onSuccess: onDone });
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onEnter={save}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" disabled={!canSave} pending={isPending && pending} onClick={save}>
            {action}
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
      {children}
      {error && !isUrlWrong && <ErrorNotice error={error} money={money} />}
    </Dialog>
  );
}

function KindChoice({ chosen, onChange }: { chosen: Kinds; onChange: (chosen: Kinds) => void }) {
  const threshold = useRead('/threshold').data?.threshold_credits;
  const labels = {
    ...KIND_LABELS,
    ...(threshold !== undefined && {
      'credit.low': `The balance fell below ${countOf(threshold, 'credit')}.`,
    }),
  };
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
              <code>{kind}</code> <span className="soft">{labels[kind]}</span>
            </>
          }
        />
      ))}
    </fieldset>
  );
}
