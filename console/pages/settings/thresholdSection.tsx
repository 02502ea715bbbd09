import { useState } from 'react';
import { useRead } from '../../data/queries.ts';
import { call } from '../../data/request.ts';
import { useChange } from '../../data/useChange.ts';
import { Button } from '../../design/button.tsx';
import { TextField } from '../../design/field.tsx';
import { formatCount } from '../../design/formats.ts';
import { ErrorNotice, Notice, Reading } from '../../design/notice.tsx';
import { Form, Row, Section } from '../../design/page.tsx';
import { formatUsdc, readCredits } from '../../design/values.tsx';

const MOST = 1_000_000_000_000n;

/** When `credit.low` fires. */
export function ThresholdSection() {
  const read = useRead('/threshold');
  const { data } = read;
  const [text, setText] = useState<string>();
  const save = useChange(
    (threshold_credits: number) => call('PUT', '/threshold', { body: { threshold_credits } }),
    ['/threshold'],
  );
  const shown = text ?? (data ? String(data.threshold_credits) : '');
  // Zero is a threshold, too: the alert then never fires.
  const { credits, wrong } = readCredits(shown, { name: 'Threshold', least: 0n, most: MOST });
  const saveEntered = () => {
    if (credits === undefined || data === undefined || save.isPending) return;
    save.mutate(Number(credits), { onSuccess: () => setText(undefined) });
  };
  // Until it fires, or another tab sets another one.
  const isAsSaved =
    save.data && data?.is_low === false && data.threshold_credits === save.data.threshold_credits;
  return (
    <Section
      title="Low-credit alert"
      lead={
        <>
          When available and locked credits together fall below this, <code>credit.low</code> goes
          to your webhooks, once.
        </>
      }
    >
      <Form onSubmit={saveEntered}>
        <TextField
          label="Threshold in credits"
          inputMode="numeric"
          disabled={data === undefined}
          value={shown}
          error={data && wrong}
          hint={
            credits === undefined ? ' ' : `${formatUsdc(credits)}. Saving arms the alert again.`
          }
          onChange={(event) => setText(event.target.value)}
        />
        <Row>
          <Button
            disabled={credits === undefined || data === undefined}
            pending={save.isPending && 'Saving…'}
            onClick={saveEntered}
          >
            Save
          </Button>
          {data?.is_low && <span className="soft">The alert has fired and is not armed.</span>}
        </Row>
        {read.error && <Reading of={read} what="the threshold" />}
        <ErrorNotice error={save.error} money="The threshold is as it was. It moves no credits." />
        {isAsSaved && (
          <Notice tone="ok">
            <p>
              Saved: it fires below {formatCount(data.threshold_credits)} credits, and is armed.
            </p>
          </Notice>
        )}
      </Form>
    </Section>
  );
}
