import { useState } from 'react';
import { call } from '../../data/request.ts';
import { useChange } from '../../data/useChange.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { TextField } from '../../design/field.tsx';
import { countOf } from '../../design/formats.ts';
import { ErrorNotice, Notice } from '../../design/notice.tsx';
import { LeftOver } from './webhookValues.tsx';

/** Sends again what was not delivered since a time. */
export function RecoverDialog({
  webhookId,
  onClose,
}: {
  readonly webhookId: string;
  readonly onClose: () => void;
}) {
  const [since, setSince] = useState('');
  const [until, setUntil] = useState('');
  const recover = useChange(
    () =>
      call('POST', '/webhooks/:webhook_id/replay', {
        params: { webhook_id: webhookId },
        body: {
          since: `${since}:00Z`,
          ...(until && { until: `${until}:00Z` }),
        },
      }),
    ['/webhooks', '/webhooks/:webhook_id/deliveries'],
  );
  return (
    <Dialog
      title="Recover failed deliveries"
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button
            kind="primary"
            disabled={since === ''}
            pending={recover.isPending && 'Sending…'}
            onClick={() => recover.mutate(undefined)}
          >
            Send them again
          </Button>
        </>
      }
    >
      <p>Failed and undelivered events of this time are sent again. Delivered ones are not.</p>
      <TextField
        label="From (UTC)"
        type="datetime-local"
        value={since}
        onChange={({ target }) => setSince(target.value)}
      />
      <TextField
        label="Until (UTC, optional)"
        type="datetime-local"
        value={until}
        onChange={({ target }) => setUntil(target.value)}
      />
      {recover.error && <ErrorNotice error={recover.error} money="Nothing was sent again." />}
      {recover.data && (
        <Notice tone="ok">
          <p>{countOf(recover.data.replayed, 'event')} of this time: sent again.</p>
          <LeftOver of={recover.data} />
        </Notice>
      )}
    </Dialog>
  );
}
