import { useState } from 'react';
import { useRead } from '../../data/queries.ts';
import { call } from '../../data/request.ts';
import { useChange } from '../../data/useChange.ts';
import { Button } from '../../design/button.tsx';
import { formatCount, formatUsdc } from '../../design/credits.tsx';
import { TextField } from '../../design/field.tsx';
import { ErrorNotice, Notice } from '../../design/notice.tsx';
import { Form, Row, Section } from '../../design/page.tsx';

/** Zero is a threshold, too: the alert then never fires. */
function parseThreshold(text: string): number | undefined {
  const digits = text.trim().replaceAll(',', '');
  return /^\d{1,13}$/.test(digits) ? Number(digits) : undefined;
}

/** When `credit.low` fires. */
export function ThresholdSection() {
  const { data, error } = useRead('/threshold');
  const [text, setText] = useState<string>();
  const save = useChange(
    (threshold_credits: number) => call('PUT', '/threshold', { body: { threshold_credits } }),
    ['/threshold'],
  );
  const shown = text ?? (data ? String(data.threshold_credits) : '');
  const entered = parseThreshold(shown);
  const isWrong = text !== undefined && entered === undefined;
  return (
    <Section
      title="Low-credit alert"
      lead={
        <>
          When the available credits fall below this, <code>credit.low</code> goes to your webhooks,
          once.
        </>
      }
    >
      <Form>
        <TextField
          label="Threshold in credits"
          inputMode="numeric"
          disabled={data === undefined}
          value={shown}
          error={isWrong ? 'A whole number from 0 to 1,000,000,000,000.' : undefined}
          hint={entered === undefined ? ' ' : `${formatUsdc(entered)}. Saving arms the alert anew.`}
          onChange={(event) => setText(event.target.value)}
        />
        <Row>
          <Button
            disabled={entered === undefined || data === undefined}
            pending={save.isPending && 'Saving…'}
            onClick={() => {
              if (entered === undefined) return;
              save.mutate(entered, { onSuccess: () => setText(undefined) });
            }}
          >
            Save
          </Button>
          {data?.is_low && <span className="soft">The alert has fired and is not armed.</span>}
        </Row>
        {(error ?? save.error) && (
          <ErrorNotice
            error={error ?? save.error}
            money="The threshold is as it was. It moves no credits."
          />
        )}
        {save.data && (
          <Notice tone="ok">
            <p>
              Saved: it fires below {formatCount(save.data.threshold_credits)} credits, and is
              armed.
            </p>
          </Notice>
        )}
      </Form>
    </Section>
  );
}
